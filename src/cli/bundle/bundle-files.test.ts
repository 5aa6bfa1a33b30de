import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { bundleDisk } from '../../bundle/disk.ts'
import { kubelet, lock, registry, temporaryDirectory, web } from '../../bundle/testing/fixtures.ts'
import { gather } from '../../bundle/fetch-parts.ts'
import { bundleBytes } from '../../bundle/write.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { testWish } from '../../lifecycle/testing/cluster-inputs.ts'
import { clusterOf } from '../../plan/testing/fixtures.ts'
import { carriedFor } from './bundle-files.ts'

const hosts = `
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`
const head = 'apiVersion: hyperkube.dev/v1\nkind: Cluster\nmetadata: { name: lab }\nspec:'

test('a file of the bundle is at hand as a whole, and none that it has not', async () => {
  await using directory = await temporaryDirectory()
  const [bundles, file] = [bundleDisk(), directory.at('lab.bundle')]
  const wish = await testWish(clusterOf(`${head}\n  artifacts: { bundle: lab.bundle }${hosts}`))
  const parts = bundles.parts(file)
  const { signal } = new AbortController()
  const sources = { web, registry, parts, tell: () => undefined }
  const manifest = await gather({ cluster: 'lab', lock, source: 'upstream' }, sources, signal)
  const { privateKey } = bundleKey(wish.identity)
  await bundles.write(
    file,
    bundleBytes(manifest, privateKey, ({ sha256 }) => parts.content(sha256)),
  )
  const carried = carriedFor({ bundles }, `${dirname(file)}/cluster.yml`, wish)
  const bytes = await carried?.(lock.artifacts[0]?.sha256 ?? '')
  expect(Buffer.from(bytes ?? []).equals(kubelet)).toBe(true)
  await expect(carried?.('0'.repeat(64))).rejects.toMatchObject({ code: 'BUNDLE_LACKS' })
})

test('where hosts fetch for themselves nothing is at hand', async () => {
  const wish = await testWish(clusterOf(`${head}${hosts}`))
  expect(carriedFor({ bundles: bundleDisk() }, '/tmp/cluster.yml', wish)).toBeUndefined()
})
