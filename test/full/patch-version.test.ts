import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setUpCluster } from '../support/suite-cluster.ts'

/**
 * A patch version that no document of src/catalog/minors names. The mirror has its programs, and checksum
 * files as upstream publishes them.
 */
const unknownPatch = '1.36.3'
const clusterNow = setUpCluster('patch-version', '1+1', unknownPatch, {
  parts: [`kubernetes@v${unknownPatch}`],
})

const nodeList = z.object({
  items: z.array(z.object({ status: z.object({ nodeInfo: z.object({ kubeletVersion: z.string() }) }) })),
})

async function readKubeletVersions(): Promise<readonly string[]> {
  const { items } = nodeList.parse(await clusterNow().api.get('/api/v1/nodes'))
  return items.map(({ status }) => status.nodeInfo.kubeletVersion)
}

test('the digests of an unknown patch come from checksum files, and cluster.lock records this', async () => {
  const lock = await readFile(join(clusterNow().directory, 'cluster.lock'), 'utf8')
  expect(lock).toContain(`kubernetes: ${unknownPatch}`)
  expect(lock).toContain(`/v${unknownPatch}/bin/linux/amd64/kube-apiserver`)
  expect(lock.match(/trust: published/g)?.length).toBeGreaterThan(6)
})

test('the cluster runs the unknown patch', async () => {
  const { gitVersion } = await clusterNow().api.get<{ gitVersion: string }>('/version')
  expect([gitVersion, ...(await readKubeletVersions())]).toEqual(
    Array.from({ length: 3 }, () => `v${unknownPatch}`),
  )
  expect((await clusterNow().operator.must(0, 'plan')).stdout).toContain('nothing to do')
})

test.each(['1.36.4', '1.37.1'])('the cluster is upgraded to %s', { timeout: 900_000 }, async (version) => {
  const { operator } = clusterNow()
  await operator.must(0, 'upgrade', '--to', version, '--yes')
  expect(await readKubeletVersions()).toEqual([`v${version}`, `v${version}`])
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
})

test('a patch that the mirror does not have is refused before any change', async () => {
  const { operator } = clusterNow()
  const { stderr } = await operator.must(1, 'upgrade', '--to', '1.37.99', '--yes')
  expect(stderr).toContain('LOCK_NOT_RESOLVED')
  expect(stderr).toContain('check that the source has Kubernetes 1.37.99')
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
})
