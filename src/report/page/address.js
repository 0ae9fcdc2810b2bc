/* The state of the page that stands in its address, behind the #: a part of the page, a kernel by its
 * name and configuration, then the search, the filter, the order, the columns and the profiles. A link
 * holds for the page of another run as well, so nothing in it is a number of this one. */

const FIRST_COLUMN = 'time-share';

/* `order` is null where the column's own first one holds, `columns` where those shown at first do. */
const state = {search: '', least: 0, sort: FIRST_COLUMN, order: null, columns: null,
               a: 0, b: profiles.length > 1 ? 1 : -1};
const firstState = {...state};

const shownProfiles = () => [profiles[state.a], profiles[state.b]].filter(Boolean);
const ORDERS = ['worst', 'down', 'up'];

/* {target: 'kernels', params}, of "kernels?search=gemm". */
function splitAddress(hash) {
    const [, target, query] = /^#?([^?]*)\??(.*)$/s.exec(hash);
    return {target, params: new URLSearchParams(query)};
}

function kernelParams(kernel) {
    const params = new URLSearchParams({name: kernel.name, block: kernel.block.join('x')});
    if (kernel.profile.kernels.some(k => k.name === kernel.name && k.symbol !== kernel.symbol))
        params.set('symbol', kernel.symbol);
    if (kernel.shared[1] > 0)
        params.set('shared', kernel.shared[1]);
    if (kernel.cluster[0] > 0)
        params.set('cluster', kernel.cluster.join('x'));
    if (kernel.profile.devices.length > 1)
        params.set('device', kernel.device);
    if (kernel.profile.number > 0)
        params.set('profile', kernel.profile.letter);
    return params;
}

/* A link to a kernel alone, without the search, the filter and the order. */
const kernelLink = kernel => `#kernel?${kernelParams(kernel)}`;

/* The kernel of an address: of that name, as near in its configuration as there is one; null: there is
 * none. The name is the demangled one: in the symbol the compiler numbers files anew in each build. */
function kernelOfAddress(params) {
    const name = params.get('name'), letter = params.get('profile') ?? 'A';
    const profile = profiles.find(p => p.letter === letter) ?? profiles[0];
    const kernels = profile?.kernels ?? [];
    let best = kernels.filter(k => k.name === name || k.symbol === name);
    const likes = [['symbol', k => k.symbol], ['device', k => k.device], ['block', k => k.block.join('x')],
                   ['shared', k => k.shared[1]], ['cluster', k => k.cluster.join('x')]];
    for (const [key, of] of likes) {
        const alike = best.filter(k => String(of(k)) === params.get(key));
        if (alike.length > 0)
            best = alike;
    }
    return best[0] ?? null;
}

/* Takes the state over from an address; an unknown value counts as absent. */
function readState(params) {
    const least = Number(params.get('least')), order = params.get('order');
    const profileOf = (key, none) => {
        const found = profiles.findIndex(p => p.letter === params.get(key));
        return found >= 0 ? found : key === 'b' && params.get('b') === '-' ? -1 : none;
    };
    Object.assign(state, {
        search: params.get('search') ?? '', least: least > 0 && least < 1 ? least : 0,
        sort: params.get('sort') ?? FIRST_COLUMN, order: ORDERS.includes(order) ? order : null,
        columns: params.has('columns') ? params.get('columns').split(',') : null,
        a: profileOf('a', firstState.a), b: profileOf('b', firstState.b),
    });
}

function addressOf({target, params}) {
    const all = new URLSearchParams(target === 'kernel' ? params : '');
    const letter = number => number < 0 ? '-' : profiles[number].letter;
    for (const [key, of] of [['search', v => v], ['least', v => v], ['sort', v => v], ['order', v => v],
                             ['columns', v => v.join(',')], ['a', letter], ['b', letter]])
        if (state[key] !== firstState[key])
            all.set(key, of(state[key]));
    const query = all.toString();
    return `#${target}${query ? `?${query}` : ''}`;
}

/* Puts the state into the address as it is, without a step in the browser's history. */
function writeAddress() {
    try {
        history.replaceState(null, '', addressOf(splitAddress(location.hash)));
    } catch {
        /* some browsers allow only so many in a while; the next one has it */
    }
}

/* Goes to a link of the page, and takes the search and the like along. */
function go(link) {
    const address = addressOf(splitAddress(link));
    if (address !== location.hash)
        history.pushState(null, '', address);
    follow();
}
