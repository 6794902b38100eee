import{a,b,c}from"./table.QMTJ46NP.js";import"./table.5CIK7YNQ.js";export{a as showBoardText,b as showScoreText,c as showShortcuts};
