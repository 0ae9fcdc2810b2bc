/* One tooltip for elements that Chart.js does not draw, and one line that screen readers speak. */

const tip = h('div', {id: 'tip', role: 'tooltip', hidden: true});
const spoken = h('div', {class: 'spoken', role: 'status'});
let tipAgain = null; /* shows it once more, where it belongs to the element that has the focus */

function showTip(parts, x, y) {
    replace(tip, parts);
    tip.hidden = false;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    tip.style.left = `${Math.max(4, Math.min(x + 8, document.documentElement.clientWidth - width - 8))}px`;
    tip.style.top = `${Math.max(4, y + height + 8 > innerHeight ? y - height - 24 : y)}px`;
}

function hideTip() {
    tip.hidden = true;
    tipAgain = null;
}

/* After scrolling the element is no longer beside its tooltip. */
function moveTip() {
    if (tipAgain)
        tipAgain();
    else
        hideTip();
}

/* Explains an element while the pointer is over it, or the keyboard's focus on it. Of a button without
 * another purpose (`onClick`) a click explains it too: a finger points at nothing. */
function explains(element, parts, onClick) {
    const show = () => {
        const box = element.getBoundingClientRect();
        showTip(parts(), box.left - 8, box.bottom + 6);
    };
    element.setAttribute('aria-describedby', 'tip');
    element.addEventListener('pointerenter', event => event.pointerType !== 'touch' && show());
    element.addEventListener('pointerleave', () => document.activeElement !== element && hideTip());
    element.addEventListener('focus', () => {
        if (element.matches(':focus-visible')) {
            show();
            tipAgain = show;
        }
    });
    element.addEventListener('blur', hideTip);
    if (onClick)
        element.addEventListener('click', show);
    return element;
}

function say(text) {
    spoken.textContent = text;
}
