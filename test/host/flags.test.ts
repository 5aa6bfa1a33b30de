import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildEngine } from '../../lab/components/build.ts'
import { flagsFile } from '../../lab/components/flags-file.ts'
import { askFor, flagsOf, partsWithFlags } from '../../lab/components/flags.ts'
import { partId, selectParts } from '../../lab/components/parts.ts'
import { terminalReport } from '../../lab/report.ts'

const built = await buildEngine(selectParts(partsWithFlags), {
  cache: cacheDirectory(),
  report: terminalReport(),
})

test.each(built.map((part) => ({ id: partId(part.part), part })))(
  'the flags of $id that the catalog knows are those that its programs take',
  async ({ part }) => {
    const { path, text } = flagsFile(part.part, await flagsOf(part, cacheDirectory()))
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
  const answers = built
    .filter(({ part }) => parts.includes(part))
    .map(async ({ directory }) => askFor(join(directory, program), flag))
  expect(await Promise.all(answers)).toEqual(parts.map(() => undefined))
})
