import{a,b,c}from"./table.C5VGA5QF.js";import"./table.LHBZO2ND.js";export{a as showBoardText,b as showScoreText,c as showShortcuts};
