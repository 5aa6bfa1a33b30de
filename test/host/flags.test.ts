import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { renderFlagsFile } from '../../lab/components/flags-file.ts'
import { queryFlag, readFlags, selectPartsWithFlags } from '../../lab/components/flags.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { terminalReport } from '../../lab/report.ts'

const built = await buildComponents(selectPartsWithFlags(), {
  cache: cacheDirectory(),
  report: terminalReport(),
})

test.each([...Map.groupBy(built, ({ part }) => part.name)])(
  'the flags of %s in the catalog match those of its programs',
  async (name, parts) => {
    const versions = parts.map(async (one) => ({
      version: one.part.version,
      flags: await readFlags(one, cacheDirectory()),
    }))
    const { path, text } = renderFlagsFile(name, await Promise.all(versions))
    expect(await readFile(join(import.meta.dirname, '../..', path), 'utf8')).toBe(text)
  },
)

test.each([
  ['kubernetes', 'kubelet', 'pod-infra-container-image'],
  ['kubernetes@v1.37.1', 'kubelet', 'containerd-namespace'],
  ['etcd@v3.7.3', 'etcd', 'experimental-initial-corrupt-check'],
  ['etcd@v3.7.3', 'etcd', 'discovery'],
  ['flannel', 'flanneld', 'no-such-flag'],
])('%s: %s refuses --%s', async (name, program, flag) => {
  const parts = selectParts([name])
  const selected = built.filter(({ part }) => parts.includes(part))
  expect(selected).not.toEqual([])
  const results = selected.map(async ({ directory }) => queryFlag(join(directory, program), flag))
  expect(await Promise.all(results)).toEqual(selected.map(() => undefined))
})
