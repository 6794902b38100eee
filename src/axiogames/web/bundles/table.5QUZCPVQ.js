import{a,b,c}from"./table.WIPQPPV3.js";import"./table.PSEWGBMZ.js";export{a as showBoardText,b as showScoreText,c as showShortcuts};
