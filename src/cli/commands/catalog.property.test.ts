import { readFileSync } from 'node:fs'
import { assert, asyncProperty, boolean, integer } from 'fast-check'
import { expect, test } from 'vitest'
import { signCatalog } from '../../catalog/signed-catalog.ts'
import { testCatalogKey, testCatalogPublicKey } from '../../catalog/testing/test-catalog.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

const golden = readFileSync(new URL('../../catalog/testdata/v1.catalog', import.meta.url), 'utf8')
const content = golden.slice(golden.indexOf('\n') + 1)

function sign(serial: number): string {
  return signCatalog(content.replace(/"serial": \d+/, `"serial": ${serial}`), testCatalogKey)
}

test('a catalog replaces another one only if its serial is higher, or with the flag', async () => {
  const serials = integer({ min: 1, max: 5 })
  await assert(
    asyncProperty(serials, serials, boolean(), async (before, after, accepted) => {
      const files = {
        'cluster.catalog': sign(before),
        'cluster.catalog-keys': testCatalogPublicKey,
        'new.catalog': sign(after),
      }
      const flag = accepted ? ' --accept-older-catalog' : ''
      const result = await runHyperkube(`catalog update --from new.catalog --yes${flag}`, files)
      const isRefused = after < before && !accepted
      expect(result.code).toBe(isRefused ? 1 : 0)
      expect(/^CATALOG_OLDER: /m.test(result.stderr)).toBe(isRefused)
      expect(result.files.get('cluster.catalog')).toBe(files[isRefused ? 'cluster.catalog' : 'new.catalog'])
    }),
    { numRuns: 60 },
  )
})

test('two catalogs with one serial are refused', async () => {
  const files = {
    'cluster.catalog': sign(3),
    'cluster.catalog-keys': testCatalogPublicKey,
    'new.catalog': signCatalog(
      content.replace(/"serial": \d+/, '"serial": 3').replace('"etcd": "3.6.16"', '"etcd": "3.6.1"'),
      testCatalogKey,
    ),
  }
  const { code, stderr } = await runHyperkube('catalog update --from new.catalog --yes', files)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^CATALOG_OLDER: /m)])
})
