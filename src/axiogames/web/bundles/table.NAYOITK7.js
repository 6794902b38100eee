import{a,b,c}from"./table.6W5FSNSZ.js";import"./table.6IJE2QZP.js";export{a as showBoardText,b as showScoreText,c as showShortcuts};
