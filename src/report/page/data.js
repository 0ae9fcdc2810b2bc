/* The data that the file holds, made easy to ask. A profile has kernels; a kernel has a number (its
 * rank by time; those that are kept apart come last, and have no share), names of three lengths
 * (brief, label, short), a color and numbers by metric. */

const PALETTE = ['#4c78d8', '#e8a317', '#e4572e', '#2fa58f', '#a05fd6', '#4aa63c', '#e377a8',
                 '#7aa5f0', '#a0714f', '#c7b42c'];
const OTHER_COLOR = '#8b93a1';
const NO_KERNEL = 0xFFFF;

/* By which rows of one kernel differ, the first that makes them different first. */
const DIFFERENCES = [k => extent(k.block), k => `${k.shared[1]} B shared`,
                     k => `cluster ${extent(k.cluster)}`, k => `GPU ${k.device}`];

const data = JSON.parse(document.getElementById('data').textContent);
const profiles = data.profiles.map((profile, number) => makeProfile(profile, number));

function makeProfile(raw, number) {
    const profile = {
        ...raw, number,
        letter: String.fromCharCode(65 + number % 26) + (number < 26 ? '' : Math.floor(number / 26)),
        metricIndex: new Map(raw.metrics.map((metric, i) => [metric.name, i])),
    };
    const ends = endsOf(raw.kernels).map((end, i) => end + (raw.kernels[i].apart ? ' (autotuning)' : ''));
    profile.kernels = raw.kernels.map((kernel, i) => ({
        ...kernel, profile, number: i, advice: raw.changes.filter(c => c.kernel === i),
        brief: kernel.brief + ends[i], label: kernel.label + ends[i], short: kernel.short + ends[i],
        color: i < PALETTE.length ? PALETTE[i] : OTHER_COLOR,
        share: raw.totals.seconds > 0 && !kernel.apart ? kernel.seconds / raw.totals.seconds : NaN,
        search: `${kernel.name} ${kernel.symbol} [${extent(kernel.block)}]`.toLowerCase(),
    }));
    return profile;
}

/* For each kernel the end of its name: its configuration, where several are called alike, else ''. */
function endsOf(kernels) {
    const named = new Map(), ends = kernels.map(() => '');
    kernels.forEach((k, i) => named.set(k.brief, [...(named.get(k.brief) || []), i]));
    for (const alike of named.values()) {
        let added = alike.map(() => []);
        for (const difference of alike.length > 1 ? DIFFERENCES : []) {
            const texts = alike.map(i => difference(kernels[i]));
            if (new Set(added.map(String)).size < alike.length && new Set(texts).size > 1)
                added = added.map((list, n) => [...list, texts[n]]);
        }
        alike.forEach((i, n) => { ends[i] = added[n].length > 0 ? ` [${added[n].join(', ')}]` : ''; });
    }
    return ends;
}

/* {mean, min, max}, {mean, combined}, {mean, launches}, or {why}; null where the metric is not there,
 * or was to be counted of other kernels alone. */
function stat(kernel, metric) {
    const i = kernel.profile.metricIndex.get(metric);
    if (i === undefined)
        return null;
    const s = kernel.stats[i];
    if (typeof s === 'number')
        return {mean: s, min: s, max: s};
    if (Array.isArray(s))
        return {mean: s[0], min: s[1], max: s[2]};
    if (s === false)
        return null;
    if (s && 'launches' in s)
        return s;
    if (s && 'all' in s)
        return {mean: s.all, combined: true};
    return {why: (s && s.why) || 'not a finite number'};
}

/* The mean over the launches, NaN where there is none. */
function value(kernel, metric) {
    const s = stat(kernel, metric);
    return s && isNumber(s.mean) ? s.mean : NaN;
}

/* "12 %", of the GPU time; "~12 %" where measured launches stand for others. */
const shareText = kernel => isNumber(kernel.share)
    ? `${kernel.estimated ? '~' : ''}${percent(kernel.share)}` : '–';

/* Launches that were not timed count as well. */
const averageTime = kernel => kernel.timed ? kernel.seconds / kernel.launches : NaN;

const metricOf = (profile, name) => profile.metrics[profile.metricIndex.get(name)];
const hasMetric = (profile, name) => profile.kernels.some(k => isNumber(value(k, name)));
const deviceOf = kernel => kernel.profile.devices.find(d => d.ordinal === kernel.device);
const theoretical = kernel =>
    kernel.occupancy.why ? NaN : kernel.occupancy.warps / kernel.occupancy.max_warps;

/* The kernel of another profile that this one is to be held to: of the same symbol and the nearest
 * launch configuration. */
function partner(kernel, other) {
    if (!other || kernel.profile === other)
        return other ? kernel : null;
    const same = other.kernels.filter(k => k.symbol === kernel.symbol);
    return same.find(k => String(k.block) === String(kernel.block) &&
                          k.shared[1] === kernel.shared[1]) ||
           same.find(k => String(k.block) === String(kernel.block)) || same[0] || null;
}

/* The kernels of the second profile that stand beside none of the first one. */
function onlyInSecond([first, second]) {
    if (!second)
        return [];
    const beside = new Set(first.kernels.map(k => partner(k, second)));
    return second.kernels.filter(k => !beside.has(k));
}

/* Those of the first profile, and behind them those that only the second one has. */
const kernelsOf = shown => [...shown[0].kernels, ...onlyInSecond(shown)];

/* The launches of a profile as columns; decoded when first asked for. */
function launchesOf(profile) {
    if (profile.columns)
        return profile.columns;
    const raw = profile.launches, n = raw.count;
    const columns = {
        count: n, stride: raw.stride, streams: raw.streams, otherStreams: raw.other_streams,
        kernel: new Uint16Array(bytesOf(raw.kernel)),
        stream: new Uint8Array(bytesOf(raw.stream)),
        index: raw.index ? new Uint32Array(bytesOf(raw.index))
                         : Uint32Array.from({length: n}, (_, i) => raw.first + i * raw.stride),
        start: raw.start && new Float64Array(bytesOf(raw.start)),
        blocks: new Float32Array(bytesOf(raw.blocks)),
        names: Object.keys(raw.metrics),
        decoded: new Map(),
        metric(name) {
            if (!this.decoded.has(name) && Object.hasOwn(raw.metrics, name))
                this.decoded.set(name, new Float32Array(bytesOf(raw.metrics[name])));
            return this.decoded.get(name);
        },
    };
    profile.columns = columns;
    return columns;
}
