import { expect, test } from 'vitest'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeImage, fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  dns: none
  metrics: none
  ingress: none
  storage: none
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
`
const pause = 'registry.k8s.io/pause:3.10.2'

test('without a lock images are listed by name without digests', async () => {
  const { code, stdout } = await runHyperkube('images list', { 'cluster.yml': cluster })
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "NAME   IMAGE                         DIGEST      FOR
    pause  registry.k8s.io/pause:3.10.2  not locked  sandbox of every pod
    "
  `)
})

test('with a lock digests are short in the table and complete with -o wide and -o json', async () => {
  const sites = fakeUpstream('1.37.1')
  const options = { fetcher: fakeFetcher((url) => sites.get(url)), web: fakeRegistries(fakeImages()) }
  const { files } = await runHyperkube('lock', { 'cluster.yml': cluster }, options)
  const locked = Object.fromEntries(files)
  const { digest } = fakeImage(pause)
  expect((await runHyperkube('images list', locked)).stdout).toContain(` ${digest.slice(0, 19)} `)
  expect((await runHyperkube('images list -o wide', locked)).stdout).toContain(` ${digest} `)
  const { stdout } = await runHyperkube('images list -o json', locked)
  expect(JSON.parse(stdout)).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ImageList',
    items: [{ name: 'pause', image: pause, digest, for: 'sandbox of every pod' }],
  })
})

test('an unknown subcommand of images is a usage error, and an invalid cluster.yml fails', async () => {
  expect((await runHyperkube('images burn', { 'cluster.yml': cluster })).code).toBe(2)
  expect((await runHyperkube('images list', { 'cluster.yml': 'nonsense' })).code).toBe(1)
})
