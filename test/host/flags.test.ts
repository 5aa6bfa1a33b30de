import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { queryFlag, readFlags, selectPartsWithFlags } from '../../lab/components/flags.ts'
import { formatPartId, selectParts } from '../../lab/components/parts.ts'
import { terminalReport } from '../../lab/report.ts'
import { findFlags } from '../../src/catalog/known-flags.ts'
import { programNameSchema } from '../../src/catalog/program-flags.ts'
import { shippedCatalog } from '../../src/catalog/shipped-catalog.ts'

// Parts with `onRequest` are left to the full suites, because each of them takes minutes to compile.
const parts = selectPartsWithFlags().filter(({ onRequest }) => !onRequest)
const built = await buildComponents(parts, { cache: cacheDirectory(), report: terminalReport() })

test.each(built.map((one) => [formatPartId(one.part), one] as const))(
  'the flags of %s in the catalog match those of its programs',
  async (_, one) => {
    for (const [program, flags] of await readFlags(one, cacheDirectory())) {
      const known = findFlags(
        shippedCatalog.flags,
        programNameSchema.parse(program),
        one.part.version.slice(1),
      )
      expect(known, program).toEqual(Object.fromEntries(flags))
    }
  },
)

test.each([
  ['kubernetes', 'kubelet', 'pod-infra-container-image'],
  ['kubernetes@v1.37.1', 'kubelet', 'containerd-namespace'],
  ['etcd@v3.7.3', 'etcd', 'experimental-initial-corrupt-check'],
  ['etcd@v3.7.3', 'etcd', 'discovery'],
  ['flannel', 'flanneld', 'no-such-flag'],
])('%s: %s refuses --%s', async (name, program, flag) => {
  const named = selectParts([name])
  const selected = built.filter(({ part }) => named.includes(part))
  expect(selected).not.toEqual([])
  const results = selected.map(async ({ directory }) => queryFlag(join(directory, program), flag))
  expect(await Promise.all(results)).toEqual(selected.map(() => undefined))
})
