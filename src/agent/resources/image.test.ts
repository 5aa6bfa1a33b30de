import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { uploadedFilePath, uploadedImagePath, uploadDirectory } from '../../contract/host-paths.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildComponent } from '../../diff/testing/fixtures.ts'
import { type TemporaryHost, createTemporaryHost } from '../host/testing/temporary-host.ts'
import { diffHost } from '../apply/diff-host.ts'
import { buildPullError } from './pull-error.ts'
import {
  applyAndListOps,
  buildPlanWithHost,
  programBytes,
  buildProgram,
  publishPrograms,
  runningComponent,
} from '../apply/testing/fixtures.ts'

const digest = `sha256:${'a'.repeat(64)}`
const newer = `sha256:${'b'.repeat(64)}`
const name = 'registry.example/pause'
const pause = `${name}:1@${digest}`

let host: TemporaryHost & AsyncDisposable

/** Starting the containerd unit starts the fake runtime. */
beforeEach(async () => {
  host = await createTemporaryHost(async (unit) => {
    if (unit === 'containerd.service') await runtimeStarts()
    return ''
  })
  host.images.registry.set(`${name}@${digest}`, digest)
  host.images.registry.set(`${name}@${newer}`, newer)
})
afterEach(async () => host[Symbol.asyncDispose]())

async function runtimeStarts(): Promise<void> {
  await mkdir(host.toLocalPath('/run/containerd'), { recursive: true })
  await writeFile(host.toLocalPath('/run/containerd/containerd.sock'), '')
  host.images.present ??= new Map()
}

/** Builds a plan with a container runtime, the runtime's image, and images of a later stage. */
function planned(...last: readonly string[]): NodePlan {
  const artifacts = [buildProgram('containerd', '1'), buildProgram('crictl', '1')]
  const plan = buildPlanWithHost(
    runningComponent('containerd', '1', { stage: 'node', images: [pause], artifacts }),
    buildComponent({ name: 'images', stage: 'network', images: [...last] }),
  )
  publishPrograms(host, plan)
  return plan
}

async function deliver(path: string, content = ''): Promise<void> {
  const at = host.toLocalPath(join(uploadDirectory, path))
  await mkdir(dirname(at), { recursive: true })
  await writeFile(at, content)
}

test('an image is pulled by its digest after the runtime has started, and gets its tag', async () => {
  const plan = planned()
  expect((await applyAndListOps(host, plan)).slice(-2)).toEqual([
    'start service containerd.service',
    `create image ${pause}`,
  ])
  expect(host.images.calls).toEqual([`/opt/hyperkube/crictl-1/crictl pull ${name}@${digest}`])
  expect(Object.fromEntries(host.images.present ?? [])).toEqual({
    [`${name}@${digest}`]: digest,
    [`${name}:1`]: digest,
  })
  expect(host.images.pinned).toEqual(new Set([`${name}@${digest}`, `${name}:1`]))
  expect(await applyAndListOps(host, plan)).toEqual([])
})

test('an image that is present is not pulled again', async () => {
  host.images.present = new Map([
    [`${name}@${digest}`, digest],
    [`${name}:1`, digest],
  ])
  expect((await applyAndListOps(host, planned())).at(-1)).toBe(`create image ${pause}: unchanged`)
  expect(host.images.calls).toEqual([])
})

test('another image with the same tag is reported as drift and replaced', async () => {
  const plan = planned()
  await applyAndListOps(host, plan)
  host.images.present?.set(`${name}:1`, newer)
  const { findings } = await diffHost(host, plan)
  expect(findings.map(({ message }) => message)).toEqual([
    `image ${pause} drifted: ${name}:1 is another image`,
  ])
  expect(await applyAndListOps(host, plan)).toEqual([`change image ${pause}`])
  expect(host.images.present?.get(`${name}:1`)).toBe(digest)
})

test('an image that was removed by hand is pulled again', async () => {
  const plan = planned()
  await applyAndListOps(host, plan)
  host.images.present?.clear()
  expect(await applyAndListOps(host, plan)).toEqual([`create image ${pause}`])
})

test('a runtime that does not run reports no drift of its images', async () => {
  const plan = planned()
  await applyAndListOps(host, plan)
  host.images.present = undefined
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('an image that is no longer planned is unpinned, except its tag if another image has it', async () => {
  const other = `${name}:1@${newer}`
  await applyAndListOps(host, planned(other))
  host.images.present?.set(`${name}:1`, digest)
  expect((await applyAndListOps(host, planned())).at(-1)).toBe(`remove image ${other}`)
  expect(host.images.pinned).toEqual(new Set([`${name}@${digest}`, `${name}:1`]))
})

test('an image that cannot be pulled is reported with its registry and a hint', async () => {
  host.images.registry.clear()
  await expect(applyAndListOps(host, planned())).rejects.toMatchObject({
    code: 'IMAGE_NOT_PULLED',
    component: 'containerd',
    message: `cannot pull ${pause} from registry.example`,
    hint: expect.stringContaining(`crictl pull ${pause}`),
  })
})

test.each([
  ['proxyconnect tcp: Proxy Authentication Required', 'PROXY_LOGIN_REFUSED'],
  ['tls: failed to verify certificate: x509: certificate signed by unknown authority', 'FETCH_CA_UNKNOWN'],
  ['unexpected status from HEAD request to https://r/v2/: 401 Unauthorized', 'REGISTRY_LOGIN_REFUSED'],
  ['pull access denied, repository does not exist or may require authorization', 'IMAGE_NOT_PULLED'],
])('the message of containerd "%s" gets the code %s', (message, code) => {
  const error = buildPullError(pause, new Error(message))
  expect(error).toMatchObject({ code, message: expect.stringContaining('registry.example') })
  expect(error.hint).toContain(code === 'IMAGE_NOT_PULLED' ? 'crictl' : 'hyperkube up')
})

test('an image in a plan without a container runtime is refused', async () => {
  const plan = buildPlanWithHost(buildComponent({ name: 'images', stage: 'network', images: [pause] }))
  await expect(applyAndListOps(host, plan)).rejects.toMatchObject({ code: 'IMAGE_NO_RUNTIME' })
})

test('uploaded images are not pulled, and their archives are deleted after use', async () => {
  const last = `registry.example/addon:1@${newer}`
  const plan = planned(last)
  host.remoteFiles.clear()
  host.images.registry.clear()
  for (const [image, of] of [
    [pause, digest],
    [last, newer],
  ] as const) {
    await deliver(uploadedImagePath(of))
    const [tagged = ''] = image.split('@')
    const names = new Map([tagged, tagged.replace(/:1$/, `@${of}`)].map((one) => [one, of]))
    host.images.archives.set(join(uploadDirectory, uploadedImagePath(of)), names)
  }
  for (const artifact of plan.components.flatMap(({ artifacts }) => artifacts)) {
    if (artifact.from !== 'url') continue
    await deliver(uploadedFilePath(artifact.sha256), Buffer.from(programBytes(artifact.name, '1')).toString())
  }
  await applyAndListOps(host, plan, { through: 'node' })
  // All uploaded images are loaded in the stage that starts the container runtime.
  expect(host.images.present?.get('registry.example/addon:1')).toBe(newer)
  // Archives for later stages are kept.
  expect(await host.files.list(uploadDirectory)).toHaveLength(2)
  expect(await host.files.list(join(uploadDirectory, 'images'))).toMatchObject([
    { name: `${'b'.repeat(64)}.tar` },
  ])
  await applyAndListOps(host, plan)
  expect(host.fetch.requestedUrls).toEqual([])
  expect(host.images.calls.map((call) => call.split(' ')[1])).toEqual(['load', 'load'])
  expect(await host.files.stat(uploadDirectory)).toBeUndefined()
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('an uploaded artifact with a wrong digest is discarded and downloaded', async () => {
  const plan = buildPlanWithHost(runningComponent('etcd', '1'))
  publishPrograms(host, plan)
  const [artifact] = plan.components.flatMap(({ artifacts }) => artifacts)
  if (artifact?.from !== 'url') throw new Error('no artifact')
  await deliver(uploadedFilePath(artifact.sha256), 'something else')
  await applyAndListOps(host, plan)
  expect(host.fetch.requestedUrls).toEqual([artifact.url])
})
