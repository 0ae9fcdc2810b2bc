/* Puts the page together, and goes from the whole to a kernel and back. */

const main = document.getElementById('main');
const state = {a: 0, b: profiles.length > 1 ? 1 : -1, whole: null, scroll: 0};
const shownProfiles = () => [profiles[state.a], profiles[state.b]].filter(Boolean);

function wholePage() {
    const shown = shownProfiles(), [a, b] = shown;
    if (!a)
        return [h('p', {}, 'There is no profile in this file.')];
    return [overviewSection(shown), tableSection(shown), rooflineSection(shown), barsSection(shown),
            timelineSection(a, b ? 'Timeline of A' : 'Timeline'),
            b && timelineSection(b, 'Timeline of B'), ...shown.map(skipsSection)].filter(Boolean);
}

function showSections(sections) {
    for (const section of sections)
        section.show?.();
}

function showWhole(target) {
    document.title = 'gpuprof report';
    if (!state.whole) {
        dropChartsIn(main);
        state.whole = wholePage();
        replace(main, state.whole);
        showSections(state.whole);
    }
    if (target)
        document.getElementById(target)?.scrollIntoView();
}

function showKernel(kernel) {
    const other = kernel.profile.number === state.a ? profiles[state.b] : undefined;
    const {head, sections} = kernelPage(kernel, other);
    hideTip();
    dropChartsIn(main);
    state.whole = null;
    document.title = `${kernel.label} · gpuprof`;
    replace(main, head, sections);
    showSections(sections);
    scrollTo(0, 0);
    head.querySelector('h1').focus({preventScroll: true});
}

function follow() {
    const hash = location.hash.slice(1), match = /^kernel=(\d+)\.(\d+)$/.exec(hash);
    const kernel = match && profiles[match[1]]?.kernels[match[2]];
    if (kernel)
        showKernel(kernel);
    else
        showWhole(hash);
}

function again() {
    dropChartsIn(main);
    state.whole = null;
    follow();
}

/* ---- the bar at the top ---- */

function profileChoice(which) {
    const options = profiles.map((p, i) => h('option', {value: i, selected: state[which] === i},
        `${p.letter}: ${shorten(p.path, 40)}`));
    if (which === 'b')
        options.unshift(h('option', {value: -1, selected: state.b < 0}, 'nothing'));
    return h('select', {'aria-label': which === 'a' ? 'profile' : 'beside it', onchange: event => {
        state[which] = Number(event.target.value);
        history.replaceState(null, '', '#');
        again();
    }}, options);
}

function bar() {
    const links = [['overview', 'Overview'], ['kernels', 'Kernels'], ['roofline', 'Roofline'],
                   ['bars', 'Efficiencies'], ['timeline', 'Timeline']];
    const themes = h('select', {'aria-label': 'colors', onchange: e => setTheme(e.target.value)},
        [['auto', 'auto'], ['light', 'light'], ['dark', 'dark']].map(([id, text]) =>
            h('option', {value: id, selected: theme.choice === id}, text)));
    return [h('a', {class: 'brand', href: '#overview'}, 'gpuprof'),
        h('nav', {'aria-label': 'sections'}, links.map(([id, text]) => h('a', {href: `#${id}`}, text))),
        h('div', {class: 'choices'}, profiles.length > 1 && [profileChoice('a'), ' beside ', profileChoice('b')],
            h('button', {type: 'button', title: 'keys', 'aria-label': 'keys', onclick: showKeys}, '?'), themes)];
}

/* ---- the keyboard ---- */

const KEYS = [['/', 'search the kernels'], ['o', 'overview'], ['k', 'kernels'], ['r', 'roofline'],
              ['e', 'efficiencies'], ['t', 'timeline'], ['n  p', 'next and previous kernel'],
              ['Escape', 'back to all kernels'], ['arrows', 'in a chart: from point to point'],
              ['+  −', 'in the timeline: zoom'], ['Enter', 'open the kernel'], ['?', 'these keys']];

const keys = h('dialog', {id: 'keys', 'aria-label': 'keys'}, h('h2', {}, 'Keys'),
    h('dl', {}, KEYS.map(([key, effect]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, effect)])),
    h('form', {method: 'dialog'}, h('button', {}, 'close')));

function showKeys() {
    if (!keys.open)
        keys.showModal();
}

function onKey(event) {
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open)
        return;
    if (event.key === 'Escape') {
        hideTip();
        if (inField)
            event.target.blur();
        else if (location.hash.startsWith('#kernel='))
            location.hash = '#kernels';
        return;
    }
    if (inField || event.target.tagName === 'CANVAS')
        return;
    const sections = {o: 'overview', k: 'kernels', r: 'roofline', e: 'bars', t: 'timeline'};
    if (sections[event.key]) {
        location.hash = '';
        location.hash = sections[event.key];
    } else if (event.key === '/') {
        event.preventDefault();
        showWhole('kernels');
        document.getElementById('search')?.focus();
    } else if (event.key === '?') {
        showKeys();
    } else if (event.key === 'n' || event.key === 'p') {
        document.querySelector(`a[rel=${event.key === 'n' ? 'next' : 'prev'}]`)?.click();
    }
}

startTheme();
theme.listeners.push(() => {
    for (const section of main.children)
        section.redraw?.();
});
replace(document.getElementById('bar'), bar());
document.body.append(tip, keys);
addEventListener('hashchange', follow);
addEventListener('keydown', onKey);
addEventListener('scroll', hideTip, {passive: true});
follow();
