import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { streamBundle } from '../bundle/archive.ts'
import { bundleDisk } from '../bundle/disk.ts'
import { fetchBundleParts } from '../bundle/fetch-parts.ts'
import {
  bundleLock,
  createBundleDirectory,
  kubeletContent,
  registry,
  web,
} from '../bundle/testing/fixtures.ts'
import { buildSigningKey } from '../identity/signing-key.ts'
import { buildClusterInputs } from '../lifecycle/testing/cluster-inputs.ts'
import { parseTestCluster } from '../plan/testing/fixtures.ts'
import { createBundledFileReader } from './open-cluster-bundle.ts'

const hosts = `
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`
const head = 'apiVersion: hyperkube.dev/v1\nkind: Cluster\nmetadata: { name: lab }\nspec:'

test('a bundled file is read by its digest, and an unknown digest is refused', async () => {
  await using directory = await createBundleDirectory()
  const [bundles, file] = [bundleDisk(), directory.at('lab.bundle')]
  const inputs = await buildClusterInputs(
    parseTestCluster(`${head}\n  artifacts: { bundle: lab.bundle }${hosts}`),
  )
  const parts = bundles.parts(file)
  const { signal } = new AbortController()
  const sources = { web, registry, parts, onFetch: () => undefined }
  const manifest = await fetchBundleParts(
    { cluster: 'lab', lock: bundleLock, source: 'upstream' },
    sources,
    signal,
  )
  const { privateKey } = buildSigningKey(inputs.identity)
  await bundles.write(
    file,
    streamBundle(manifest, privateKey, ({ sha256 }) => parts.content(sha256)),
  )
  const readBundled = createBundledFileReader({ bundles }, `${dirname(file)}/cluster.yml`, inputs)
  const bytes = await readBundled?.(bundleLock.artifacts[0]?.sha256 ?? '')
  expect(Buffer.from(bytes ?? []).equals(kubeletContent)).toBe(true)
  await expect(readBundled?.('0'.repeat(64))).rejects.toMatchObject({ code: 'BUNDLE_INCOMPLETE' })
})

test('without a bundle in cluster.yml there is no bundle reader', async () => {
  const inputs = await buildClusterInputs(parseTestCluster(`${head}${hosts}`))
  expect(createBundledFileReader({ bundles: bundleDisk() }, '/tmp/cluster.yml', inputs)).toBeUndefined()
})
