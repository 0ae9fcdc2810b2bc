/* One tooltip for elements that Chart.js does not draw. */

const tip = h('div', {id: 'tip', role: 'status', hidden: true});

function showTip(parts, x, y) {
    replace(tip, parts);
    tip.hidden = false;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    tip.style.left = `${Math.max(4, Math.min(x + 8, innerWidth - width - 8))}px`;
    tip.style.top = `${y + height + 8 > innerHeight ? y - height - 24 : y}px`;
}

function hideTip() {
    tip.hidden = true;
}
