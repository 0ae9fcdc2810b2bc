/* The search, the filter and the order, which hold for all of the page: which kernels are shown, and the
 * line that says so. */

function isShown(kernel) {
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    return words.every(word => kernel.search.includes(word)) &&
           (state.least === 0 || kernel.share >= state.least);
}

const isFiltered = () => state.search.trim() !== '' || state.least > 0;

/* The kernels that the search and the filter leave, in the order of the table. */
function kernelsShown(shown) {
    const {by, order} = currentOrder(shown);
    return kernelsOf(shown).filter(isShown).sort(compareBy(by, order));
}

function countText(shown) {
    const all = kernelsOf(shown), left = all.filter(isShown).length;
    return left === all.length ? plural(left, 'kernel') : `${grouped(left)} of ${plural(all.length, 'kernel')}`;
}

/* Says in a part of the page that it shows only some of the kernels, and the reason. */
function filterNote(shown) {
    const reasons = [state.search.trim() && `“${state.search.trim()}”`,
                     state.least > 0 && `${percent(state.least)} of the time or more`].filter(Boolean);
    return isFiltered() && h('p', {class: 'filtered'}, `${countText(shown)}: ${reasons.join(', ')}`);
}

/* Takes a change of the state over: into the address, and into all parts of the page. */
function setState(change) {
    Object.assign(state, change);
    writeAddress();
    showFilter();
}

/* Shows the state in the parts of the page that follow it. */
function showFilter() {
    for (const section of main.children)
        section.refilter?.();
    showBar();
}

const filterButton = h('button', {type: 'button', class: 'filtered', hidden: true, title: 'show all kernels',
    onclick: () => setState({search: '', least: 0})});

function showFilterButton() {
    const shown = shownProfiles();
    filterButton.hidden = shown.length === 0 || !isFiltered();
    if (shown.length > 0)
        replace(filterButton, countText(shown), h('span', {class: 'spoken'}, ': show all'), ' ✕');
}
