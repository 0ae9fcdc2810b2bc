/* Puts the page together, and goes from the whole to a kernel and back. */

const main = document.getElementById('main');
let whole = null;    /* the sections of the page of all kernels, while they are shown */
let wholeOf = '';    /* the profiles that they are of */
let opened = null;   /* the kernel whose page is shown, and how far the whole was scrolled before */

function wholePage() {
    const shown = shownProfiles(), [a, b] = shown;
    if (!a)
        return [h('p', {}, 'There is no profile in this file.')];
    return [overviewSection(shown), tableSection(shown), rooflineSection(shown), barsSection(shown),
            timelineSection(a, b ? 'Timeline of A' : 'Timeline', 'timeline'),
            b && timelineSection(b, 'Timeline of B', 'timeline-b'), ...shown.map(skipsSection)].filter(Boolean);
}

function showSections(sections) {
    for (const section of sections)
        section.show?.();
}

/* Goes to a part of the page: there it is, and there the keyboard goes on. */
function focusOn(section) {
    const head = section.querySelector('h1, h2') ?? section;
    head.tabIndex = -1;
    section.scrollIntoView();
    head.focus({preventScroll: true});
}

/* Shown when the keyboard comes to it; goes past something long. */
function skipButton(text, target) {
    return h('button', {type: 'button', class: 'skip', onclick: () => focusOn(target())}, text);
}

function showWhole(target) {
    const from = opened;
    document.title = 'gpuprof report';
    if (whole && wholeOf === `${state.a} ${state.b}`) {
        showFilter();
    } else {
        dropChartsIn(main);
        whole = wholePage();
        wholeOf = `${state.a} ${state.b}`;
        replace(main, whole);
        showSections(whole);
        showBar();
    }
    const section = target && main.querySelector(`#${CSS.escape(target)}`);
    const row = from && target === 'kernels' && section.querySelector(
        `tr[data-kernel="${from.kernel.number}"][data-profile="${from.kernel.profile.letter}"] a`);
    if (row)
        row.focus();
    else if (section)
        focusOn(section);
    else if (from)
        scrollTo(0, from.scroll);
    opened = null;
}

function showKernel(kernel) {
    const other = kernel.profile.number === state.a ? profiles[state.b] : undefined;
    const {head, sections} = kernelPage(kernel, other);
    dropChartsIn(main);
    opened = {kernel, scroll: whole ? scrollY : opened?.scroll ?? 0};
    whole = null;
    document.title = `${kernel.label} · gpuprof`;
    replace(main, head, sections);
    showSections(sections);
    showBar();
    scrollTo(0, 0);
    head.querySelector('h1').focus({preventScroll: true});
}

function showNotice(text) {
    notice.hidden = !text;
    notice.textContent = text;
}

const notice = h('p', {class: 'warning', role: 'status', hidden: true});

function follow() {
    const {target, params} = splitAddress(location.hash);
    hideTip();
    readState(params);
    const kernel = target === 'kernel' ? kernelOfAddress(params) : null;
    showNotice(target === 'kernel' && !kernel ? `This page has no kernel of the name ${params.get('name')}.` : '');
    if (kernel)
        showKernel(kernel);
    else
        showWhole(target);
}

/* Links of the page take the search and the like along; opened elsewhere they are as they are. */
function onClick(event) {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0)
        return;
    event.preventDefault();
    go(link.getAttribute('href'));
}

/* ---- the bar at the top ---- */

const profileChoices = {};

function profileChoice(which) {
    const options = profiles.map((p, i) => h('option', {value: i}, `${p.letter}: ${shorten(p.path, 40)}`));
    if (which === 'b')
        options.unshift(h('option', {value: -1}, 'nothing'));
    profileChoices[which] = h('select', {'aria-label': which === 'a' ? 'profile' : 'beside it', onchange: event => {
        state[which] = Number(event.target.value);
        go('#');
    }}, options);
    return profileChoices[which];
}

/* Shows the state in the bar. */
function showBar() {
    showFilterButton();
    for (const [which, choice] of Object.entries(profileChoices))
        choice.value = state[which];
}

function bar() {
    const links = [['overview', 'Overview'], ['kernels', 'Kernels'], ['roofline', 'Roofline'],
                   ['bars', 'Efficiencies'], ['timeline', 'Timeline']];
    const themes = h('select', {'aria-label': 'colors', onchange: e => setTheme(e.target.value)},
        [['auto', 'auto'], ['light', 'light'], ['dark', 'dark']].map(([id, text]) =>
            h('option', {value: id, selected: theme.choice === id}, text)));
    return [skipButton('skip to the contents', () => main.firstChild),
        h('a', {class: 'brand', href: '#overview'}, 'gpuprof'),
        h('nav', {'aria-label': 'sections'}, links.map(([id, text]) => h('a', {href: `#${id}`}, text))),
        h('div', {class: 'choices'}, filterButton,
            profiles.length > 1 && [profileChoice('a'), ' beside ', profileChoice('b')],
            h('button', {type: 'button', title: 'keys', 'aria-label': 'keys', onclick: showKeys}, '?'), themes)];
}

/* ---- the keyboard ---- */

const KEYS = [['/', 'search the kernels'], ['o', 'overview'], ['k', 'kernels'], ['r', 'roofline'],
              ['e', 'efficiencies'], ['t', 'timeline'], ['n  p', 'next and previous kernel, in the table’s order'],
              ['Escape', 'closes a menu; from a kernel back to all'],
              ['arrows', 'in a chart: from point to point; in the table: from kernel to kernel'],
              ['+  −', 'in the timeline: zoom'], ['Enter', 'open the kernel'], ['?', 'these keys']];

const keys = h('dialog', {id: 'keys', 'aria-label': 'keys'}, h('h2', {}, 'Keys'),
    h('dl', {}, KEYS.map(([key, effect]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, effect)])),
    h('form', {method: 'dialog'}, h('button', {}, 'close')));

function showKeys() {
    if (!keys.open)
        keys.showModal();
}

const SECTION_KEYS = {o: '#overview', k: '#kernels', r: '#roofline', e: '#bars', t: '#timeline'};

function onKey(event) {
    const inField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open)
        return;
    if (event.key === 'Escape') {
        if (!tip.hidden)
            hideTip();
        else if (inField)
            event.target.blur();
        else if (location.hash.startsWith('#kernel?'))
            go('#kernels');
        return;
    }
    if (inField || event.target.tagName === 'CANVAS')
        return;
    if (Object.hasOwn(SECTION_KEYS, event.key)) {
        go(SECTION_KEYS[event.key]);
    } else if (event.key === '/') {
        event.preventDefault();
        go('#kernels');
        document.getElementById('search')?.focus();
    } else if (event.key === '?') {
        showKeys();
    } else if (event.key === 'n' || event.key === 'p') {
        document.querySelector(`a[rel=${event.key === 'n' ? 'next' : 'prev'}]`)?.click();
    }
}

readState(splitAddress(location.hash).params);
startTheme();
theme.listeners.push(() => {
    for (const section of main.children)
        section.redraw?.();
});
replace(document.getElementById('bar'), bar());
main.before(notice);
document.body.append(tip, spoken, keys);
addEventListener('hashchange', follow);
addEventListener('click', onClick);
addEventListener('keydown', onKey);
addEventListener('scroll', moveTip, {passive: true, capture: true});
follow();
