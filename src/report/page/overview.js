/* The first screen: the run, kernels by time, the changes worth most. */

const BARS_ON_FIRST_SCREEN = 8, ADVICE_ON_FIRST_SCREEN = 5, ADVICE_OF_A_KERNEL = 2;

function tile(name, now, then, better) {
    const tone = better && isNumber(better) && Math.abs(better) >= 0.02 ? better < 0 ? 'good' : 'bad' : '';
    return h('div', {class: 'tile'}, h('div', {class: 'muted'}, name), h('div', {class: 'big'}, now),
        then && h('div', {class: tone}, then));
}

function tiles(a, b) {
    const [x, y] = [a.totals, b?.totals];
    const faster = y && x.seconds > 0 ? y.seconds / x.seconds - 1 : NaN;
    return h('div', {class: 'tiles'},
        tile('GPU time', x.timed ? format(x.seconds, 's') : '–',
             y && `B: ${format(y.seconds, 's')} (${change(x.seconds, y.seconds)})`, faster),
        tile('Kernel launches', grouped(x.launches), y && `B: ${grouped(y.launches)}`),
        tile('Measured', x.launches > 0 ? percent(x.measured / x.launches) : '–',
             y && y.launches > 0 && `B: ${percent(y.measured / y.launches)}`),
        tile('Kernels', grouped(a.kernels.length), y && `B: ${grouped(b.kernels.length)}`),
        tile('Added by measuring', format(x.overhead_seconds, 's'),
             y && `B: ${format(y.overhead_seconds, 's')}`));
}

/* The summary of the program: pairs of a name and a text, those of the second profile below. */
function programSummary(a, b) {
    const names = [...new Set([a, b].flatMap(profile => profile?.summary.map(line => line.name) ?? []))];
    const value = (profile, name) => profile?.summary.find(line => line.name === name)?.value;
    return names.length > 0 && h('dl', {class: 'summary'}, names.map(name => [h('dt', {}, name),
        h('dd', {}, value(a, name) ?? '–', b && h('div', {class: 'muted'}, `B: ${value(b, name) ?? '–'}`))]));
}

function aboutProfile(profile, marked) {
    const process = profile.processes[0];
    const more = profile.processes.length - 1;
    return h('div', {class: 'about'},
        h('div', {class: 'command'}, marked && h('b', {}, `${profile.letter} `),
          folded(process?.command.join(' ') || profile.path),
          more > 0 && h('span', {class: 'muted'}, ` and ${plural(more, 'process')} more`)),
        h('p', {class: 'muted'}, [
            ...profile.devices.map(d => `${d.name || 'GPU ' + d.ordinal} (${d.chip || 'cc ' + d.cc}, ${d.sms} SMs)`),
            process && [process.host, process.time].filter(Boolean).join(', '), profile.path,
        ].filter(Boolean).join(' · ')),
        profile.devices.some(d => d.simulated) && h('p', {class: 'warning'},
            'Simulated GPU: these numbers are computed by a model, not measured.'),
        profile.sample && h('p', {class: 'muted'},
            `Of each kernel and launch configuration, some launches were measured: ${profile.sample}.`),
        profile.replay_off && h('p', {class: 'muted'},
            'No launch was replayed: each was counted in part.'),
        [profile.notes, profile.problems].map(text => text && h('p', {class: 'warning'}, text)));
}

function timeBars(profile) {
    const own = profile.kernels.filter(k => !k.apart);
    const shown = own.slice(0, BARS_ON_FIRST_SCREEN), rest = own.slice(BARS_ON_FIRST_SCREEN);
    const bar = (share, color) => {
        const element = h('span', {class: 'timebar'});
        element.style.width = `${Math.max(0.3, 100 * (share || 0))}%`;
        element.style.background = color;
        return h('span', {class: 'timetrack'}, element);
    };
    return h('ol', {class: 'bytime'}, shown.map(k => h('li', {},
        h('a', {href: kernelLink(k), title: k.name}, breakable(k.label)),
        h('span', {class: 'share'}, shareText(k)), bar(k.share, k.color),
        h('span', {class: 'muted', title: `${format(averageTime(k), 's')} × ${grouped(k.launches)}`},
            k.bound.known ? boundText(k) : `${format(averageTime(k), 's')} × ${grouped(k.launches)}`))),
        rest.length > 0 && h('li', {}, h('a', {href: '#kernels'}, `${plural(rest.length, 'more kernel')}`),
            h('span', {class: 'share'}, percent(rest.reduce((sum, k) => sum + (k.share || 0), 0))),
            bar(rest.reduce((sum, k) => sum + (k.share || 0), 0), OTHER_COLOR), h('span')));
}

/* Those with the largest gain, two of a kernel at most: the same as in the text report. */
function worthMost(profile) {
    const taken = new Map(), chosen = [];
    for (const change of profile.changes) {
        const before = change.kernel >= 0 && taken.get(change.kernel) || 0;
        if (before < ADVICE_OF_A_KERNEL && chosen.length < ADVICE_ON_FIRST_SCREEN)
            chosen.push(change);
        taken.set(change.kernel, before + 1);
    }
    return chosen.map(c => adviceItem(c, profile.kernels[c.kernel]));
}

function noChange(profile) {
    const unknown = profile.kernels.find(k => !k.bound.known);
    if (profile.totals.measured === 0)
        return 'Nothing was measured to give advice on.';
    if (unknown && profile.kernels.every(k => !k.bound.known))
        return `The bound of the kernels is not known: ${unknown.bound.why}`;
    return `No rule of advice applies to these kernels${profile.kernels.some(k => k.bound.at_roof)
        ? '; some are at their roof' : ''}.`;
}

function skipsSection(profile) {
    if (profile.skips.length === 0)
        return null;
    return h('section', {id: 'skips'}, h('details', {}, h('summary', {}, h('h2', {}, 'Not measured')),
        h('ul', {}, profile.skips.map(skip => h('li', {}, `${plural(skip.launches, 'launch')} of `,
            h('b', {}, skip.kernel), `: ${skip.reason}`)),
        profile.other_skips > 0 && h('li', {}, `${plural(profile.other_skips, 'launch')} more`))));
}

function overviewSection(shown) {
    const [a, b] = shown, changes = worthMost(a);
    return h('section', {id: 'overview'}, shown.map(p => aboutProfile(p, shown.length > 1)),
        programSummary(a, b), tiles(a, b),
        h('div', {class: 'columns'},
            h('div', {}, h('h2', {}, 'Kernels by time'), timeBars(a),
                a.kernels.some(k => k.estimated) && h('p', {class: 'muted'},
                    '~: the time of the timed launches stands for all launches')),
            h('div', {}, h('h2', {}, 'Changes worth most'), changes.length > 0
                ? h('ol', {class: 'advice'}, changes)
                : h('p', {class: 'muted'}, noChange(a)))));
}
