import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { viewAnchor } from '../../src/keel/anchors.ts'
import { createBaseline } from '../../src/keel/baseline.ts'
import { decodeMemory, encodeMemory } from '../../src/keel/cache.ts'
import { createDocumentTable } from '../../src/keel/documents.ts'
import { blobId } from '../../src/keel/forms.ts'
import { isSettled } from '../../src/keel/freshness.ts'
import { emptyMemory, type TargetRecord } from '../../src/keel/memory.ts'
import { readChild } from '../../src/keel/read-child.ts'
import type { Resolution } from '../../src/keel/resolve.ts'
import type { Entry } from '../../src/keel/types.ts'
import { createZones, readLocalZones } from '../../src/keel/zones.ts'
import type { FileIdentity } from '../../src/ports/files.ts'
import { memoryFiles } from '../support/memory-files.ts'

const big = fc.bigInt({ min: 0n, max: 2n ** 62n })
const identities: fc.Arbitrary<FileIdentity> = fc.record({
  device: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  inode: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  kind: fc.constant('file' as const),
  size: fc.nat(),
  mtimeNs: big,
  ctimeNs: big,
})

describe('the table of documents', () => {
  it('knows each document by all of its identity, over saving and loading', () => {
    const rows = fc.uniqueArray(
      fc.record({ path: fc.string({ minLength: 1 }).map(path => path.replaceAll('\0', '_')), identity: identities }),
      {
        selector: row => row.path,
        maxLength: 80,
      },
    )
    fc.assert(
      fc.property(rows, fc.nat(), (list, dropped) => {
        const memory = emptyMemory()
        for (const { path, identity } of list) memory.documents.set(path, identity, 'plain', true)
        const gone = list[dropped % Math.max(1, list.length)]
        if (gone !== undefined) memory.documents.delete(gone.path)
        const loaded = decodeMemory(encodeMemory(memory))!.documents
        for (const { path, identity } of list) {
          expect(loaded.isCurrent(path, identity)).toBe(path !== gone?.path)
          expect(loaded.isCurrent(path, { ...identity, size: identity.size + 1 })).toBe(false)
          expect(loaded.isCurrent(path, { ...identity, ctimeNs: identity.ctimeNs + 1n })).toBe(false)
        }
        expect(loaded.size).toBe(Math.max(0, list.length - 1))
      }),
    )
  })

  it('does not trust what was read within the grain of the clock', () => {
    const table = createDocumentTable()
    const identity: FileIdentity = { device: 1n, inode: 2n, kind: 'file', size: 3, mtimeNs: 4n, ctimeNs: 5n }
    table.set('a', identity, 'plain', false)
    expect(table.isCurrent('a', identity)).toBe(false)
    expect(table.isCurrent('b', identity)).toBe(false)
  })

  it.each([
    [1_000_000_000_001n, 1_000_000, false],
    [1_000_000_000_001n, 1_000_019, false],
    [1_000_000_000_001n, 1_000_021, true],
    [1_000_000_000_000n, 1_001_999, false],
    [1_000_000_000_000n, 1_002_000, true],
  ])('a file of %s read at %s ms is settled: %s', (timeNs, readAtMs, settled) => {
    const identity = { device: 1n, inode: 1n, kind: 'file', size: 1, mtimeNs: timeNs, ctimeNs: timeNs } as const
    expect(isSettled(identity, readAtMs)).toBe(settled)
  })

  it('bytes that are no cache are nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
        expect(decodeMemory(bytes) === undefined || bytes.length >= 16).toBe(true)
      }),
    )
    const whole = encodeMemory(emptyMemory())
    for (let length = 0; length < whole.length; length += 1) expect(decodeMemory(whole.slice(0, length))).toBeUndefined()
  })
})

describe('the cache', () => {
  const fileIdentity = (size: number): FileIdentity => ({
    device: 2n ** 64n - 1n,
    inode: 7n,
    kind: 'file',
    size,
    mtimeNs: 1_796_078_081_613_769_879n,
    ctimeNs: -5n,
  })
  const stamps = ['', ' @ok', ' @ok: read it', ' @0123456789ab', ' @0123456789abc', ' @bad0']
  const refs = [
    'a.md',
    'a.md#One',
    'a.md#One#Two',
    'b%20c.md',
    '"[[a]]"',
    '"[[a#One|shown]]"',
    'https://example.org/x',
    "'c d.md'",
  ]
  const item = fc.tuple(fc.constantFrom(...refs), fc.constantFrom(...stamps)).map(([ref, stamp]) => `${ref}${stamp}`)
  const document = fc.record({
    head: fc.array(item, { maxLength: 4 }),
    section: fc.array(item, { maxLength: 3 }),
    bad: fc.boolean(),
  })
  const resolutions = fc.constantFrom<((entry: Entry) => Resolution) | null>(
    null,
    ({ ref, anchor }) => ({ kind: 'file', ref, anchor, path: 'a.md', match: null, others: [] }),
    ({ ref, anchor }) => ({ kind: 'file', ref, anchor, path: 'no-target.md', match: null, others: [] }),
    ({ ref, anchor }) => ({ kind: 'file', ref, anchor, path: 'a.md', match: 'decoded', others: ['b.md'] }),
    ({ text }) => ({ kind: 'file', ref: text, anchor: null, path: 'a.md', match: null, others: [] }),
    ({ ref, anchor }) => ({ kind: 'missing', ref, anchor, path: 'gone.md' }),
    ({ ref, anchor }) => ({ kind: 'wikilinks', ref, anchor, paths: ['a.md', 'x/a.md'] }),
  )
  const target = fc.record({
    text: fc.constantFrom('', 'x', 'x\n', '# One\n\nx\n', '# One\r\nx\n\n', ' \n', '\0', '\uFEFFx\n'),
    anchors: fc.oneof(
      fc.constant<(string | null)[]>([null]),
      fc.subarray<string | null>([null, 'One', 'L1', 'Gone'], { minLength: 1 }),
    ),
    isLink: fc.constantFrom(false, false, true),
    rest: fc.constantFrom<Partial<TargetRecord>>({}, {}, { indexId: 'a'.repeat(40) }, { windows: new Map([['L1 x', null]]) }),
  })

  it('gives back what was known of children, targets and edges', () => {
    fc.assert(
      fc.property(
        fc.array(document, { minLength: 1, maxLength: 4 }),
        fc.array(target, { minLength: 1, maxLength: 6 }),
        resolutions,
        (documents, targets, resolve) => {
          const memory = emptyMemory()
          targets.forEach(({ text, anchors, isLink, rest }, at) => {
            const path = at === 0 ? 'a.md' : `t${at}.md`
            const bytes = new TextEncoder().encode(text)
            const views = new Map(anchors.map(anchor => [anchor, viewAnchor(bytes, path, anchor, null)]))
            const [file, raw] = [fileIdentity(bytes.length), blobId(bytes)]
            const link = isLink ? { ...fileIdentity(4), kind: 'link' as const } : null
            memory.targets.set(path, {
              path,
              link,
              file,
              isSettled: true,
              raw,
              why: null,
              views,
              windows: new Map(),
              indexId: null,
              ...rest,
            })
          })
          documents.forEach(({ head, section, bad }, at) => {
            const list = (items: readonly string[]) => items.map(one => `  - ${one}\n`).join('')
            const comment = section.map(one => `<!-- source: ${one} -->\n`).join('')
            const text = `---\nsources:\n${list(head)}${bad ? '  - [x]\n' : ''}---\nhead\n# Part\n${comment}\ntext\n`
            const child = readChild(`d${at}.md`, new TextEncoder().encode(text), {
              identity: fileIdentity(text.length),
              isSettled: at > 0,
            })
            if (child === null) return
            child.edges.forEach((slot, index) => {
              slot.resolution = resolve?.(child.parsed.entries[index]!) ?? null
              if (index === 1) slot.asFile = true
              memory.edges.set(slot.id, {
                stamp: slot.scopeId,
                settled: index === 0 ? blobId(new Uint8Array(index + at)) : slot.scopeId,
              })
            })
            memory.children.set(child.path, child)
          })
          const loaded = decodeMemory(encodeMemory(memory))!
          expect(loaded.children).toEqual(memory.children)
          expect(loaded.targets).toEqual(memory.targets)
          expect(loaded.edges).toEqual(memory.edges)
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('the copies of stamped contents', () => {
  const content = (text: string) => new TextEncoder().encode(text.repeat(50))

  it('give back what was put in, and nothing that is damaged', async () => {
    const files = memoryFiles({ '/b/x': '' })
    const baseline = createBaseline(files, () => '/b', 1_000_000)
    const id = blobId(content('a'))
    expect(await baseline.put(id, content('a'), new Set())).toBe('kept')
    expect(baseline.get(id)).toEqual(Buffer.from(content('a')))
    await files.replace(`/b/${id.slice(0, 2)}/${id}`, new TextEncoder().encode('damage'))
    expect(baseline.get(id)).toBeUndefined()
    expect(await baseline.put(id, content('a'), new Set())).toBe('kept')
    expect(baseline.get(id)).toBeDefined()
  })

  it('make room for newer ones, oldest first, but not of those in use', async () => {
    const files = memoryFiles({ '/b/x': '' })
    const texts = ['a', 'b', 'c', 'd'].map(content)
    const ids = texts.map(blobId)
    const one = createBaseline(files, () => '/b', 1_000_000)
    await one.put(ids[0]!, texts[0]!, new Set())
    const baseline = createBaseline(files, () => '/b', one.size()! * 3)
    for (const at of [1, 2]) await baseline.put(ids[at]!, texts[at]!, new Set())
    expect(await baseline.put(ids[3]!, texts[3]!, new Set([ids[0]!]))).toBe('kept')
    expect(ids.map(id => baseline.get(id) !== undefined)).toEqual([true, false, true, true])
    const e = content('e')
    expect(await baseline.put(blobId(e), e, new Set(ids))).toBe('full')
  })
})

describe('zones', () => {
  const none = { ignore: null, frozen: null, vendored: null }

  it.each([
    ['a/park/b.md', 'ignore'],
    ['a/parking/b.md', null],
    ['in/x.md', 'frozen'],
    ['in/park/x.md', 'frozen'],
    ['park/in/x.md', 'ignore'],
    ['Park/x.md', null],
    ['x/build', 'ignore'],
    ['node_modules/y.md', 'ignore'],
  ])('%s is in %s', (path, zone) => {
    expect(createZones(none, []).of(path)).toBe(zone)
  })

  it('some folders are ignored whatever is set', () => {
    const zones = createZones({ ...none, ignore: [] }, [])
    expect(['park/x.md', '.git/x.md', '.outrigger/x.md'].map(path => zones.of(path))).toEqual([null, 'ignore', 'ignore'])
  })

  it('a folder that holds a list is judged by the lists above it', () => {
    const local = readLocalZones('in', new TextEncoder().encode('frozen: [x]\nignore:\n  - y\n'))
    const zones = createZones(none, [local])
    expect(['in/a.md', 'x/a.md'].map(path => zones.of(path))).toEqual(['frozen', null])
    expect(createZones({ ...none, frozen: [] }, [local]).of('in/y/a.md')).toBe('ignore')
    expect(zones.base('in/deep')).toBe('in')
  })

  it('a list that cannot be read says nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array(), bytes => {
        expect(readLocalZones('f', bytes).folder).toBe('f')
      }),
    )
    expect(readLocalZones('f', new TextEncoder().encode('ignore: no list\n'))).toEqual({
      folder: 'f',
      ignore: null,
      frozen: null,
    })
  })
})
