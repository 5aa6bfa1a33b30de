import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveredFile, deliveredImage, deliveries } from '../../../contract/uploads.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { componentOf } from '../../../diff/testing/fixtures.ts'
import { type TemporaryHost, temporaryHost } from '../../host/testing/temporary-host.ts'
import { diffHost } from '../diff-host.ts'
import { applied, hostPlan, programBytes, programOf, publish, running } from '../testing/fixtures.ts'

const digest = `sha256:${'a'.repeat(64)}`
const newer = `sha256:${'b'.repeat(64)}`
const name = 'registry.example/pause'
const pause = `${name}:1@${digest}`

let host: TemporaryHost & AsyncDisposable

/** Its runtime begins to run when it is started. */
beforeEach(async () => {
  host = await temporaryHost(async (unit) => {
    if (unit === 'containerd.service') await runtimeStarts()
    return ''
  })
  host.images.registry.set(`${name}@${digest}`, digest)
  host.images.registry.set(`${name}@${newer}`, newer)
})
afterEach(async () => host[Symbol.asyncDispose]())

async function runtimeStarts(): Promise<void> {
  await mkdir(host.place('/run/containerd'), { recursive: true })
  await writeFile(host.place('/run/containerd/containerd.sock'), '')
  host.images.there ??= new Map()
}

/** A runtime with its image, and another image that comes last. */
function planned(...last: readonly string[]): NodePlan {
  const artifacts = [programOf('containerd', '1'), programOf('crictl', '1')]
  const plan = hostPlan(
    running('containerd', '1', { stage: 'node', images: [pause], artifacts }),
    componentOf({ name: 'images', stage: 'network', images: [...last] }),
  )
  publish(host, plan)
  return plan
}

async function deliver(path: string, content = ''): Promise<void> {
  const at = host.place(join(deliveries, path))
  await mkdir(dirname(at), { recursive: true })
  await writeFile(at, content)
}

test('an image comes once the runtime runs, by its digest, and bears its tag too', async () => {
  const plan = planned()
  expect((await applied(host, plan)).slice(-2)).toEqual([
    'start service containerd.service',
    `create image ${pause}`,
  ])
  expect(host.images.calls).toEqual([`/opt/hyperkube/crictl-1/crictl pull ${name}@${digest}`])
  expect(Object.fromEntries(host.images.there ?? [])).toEqual({
    [`${name}@${digest}`]: digest,
    [`${name}:1`]: digest,
  })
  expect(host.images.kept).toEqual(new Set([`${name}@${digest}`, `${name}:1`]))
  expect(await applied(host, plan)).toEqual([])
})

test('an image that is there already is not brought again', async () => {
  host.images.there = new Map([
    [`${name}@${digest}`, digest],
    [`${name}:1`, digest],
  ])
  expect((await applied(host, planned())).at(-1)).toBe(`create image ${pause}: unchanged`)
  expect(host.images.calls).toEqual([])
})

test('another image under the name is told, and replaced by the right one', async () => {
  const plan = planned()
  await applied(host, plan)
  host.images.there?.set(`${name}:1`, newer)
  const { findings } = await diffHost(host, plan)
  expect(findings.map(({ message }) => message)).toEqual([
    `image ${pause} is not as it was left: ${name}:1 is another image`,
  ])
  expect(await applied(host, plan)).toEqual([`change image ${pause}`])
  expect(host.images.there?.get(`${name}:1`)).toBe(digest)
})

test('one that somebody removed comes back', async () => {
  const plan = planned()
  await applied(host, plan)
  host.images.there?.clear()
  expect(await applied(host, plan)).toEqual([`create image ${pause}`])
})

test('a runtime that does not answer tells nothing of its images', async () => {
  const plan = planned()
  await applied(host, plan)
  host.images.there = undefined
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('one that left the plan may go, but not under a name that another one has', async () => {
  const other = `${name}:1@${newer}`
  await applied(host, planned(other))
  host.images.there?.set(`${name}:1`, digest)
  expect((await applied(host, planned())).at(-1)).toBe(`remove image ${other}`)
  expect(host.images.kept).toEqual(new Set([`${name}@${digest}`, `${name}:1`]))
})

test('one that cannot be pulled is told with its registry and what to do', async () => {
  host.images.registry.clear()
  await expect(applied(host, planned())).rejects.toMatchObject({
    code: 'IMAGE_NOT_PULLED',
    component: 'containerd',
    message: `${pause} could not be pulled from registry.example`,
    hint: expect.stringContaining(`crictl pull ${pause}`),
  })
})

test('without a runtime there is no way to bring one', async () => {
  const plan = hostPlan(componentOf({ name: 'images', stage: 'network', images: [pause] }))
  await expect(applied(host, plan)).rejects.toMatchObject({ code: 'IMAGE_NO_RUNTIME' })
})

test('what was delivered is not asked for anywhere, and goes once it was used', async () => {
  const last = `registry.example/addon:1@${newer}`
  const plan = planned(last)
  host.world.clear()
  host.images.registry.clear()
  for (const [image, of] of [
    [pause, digest],
    [last, newer],
  ] as const) {
    await deliver(deliveredImage(of))
    const [tagged = ''] = image.split('@')
    const names = new Map([tagged, tagged.replace(/:1$/, `@${of}`)].map((one) => [one, of]))
    host.images.archives.set(join(deliveries, deliveredImage(of)), names)
  }
  for (const artifact of plan.components.flatMap(({ artifacts }) => artifacts)) {
    if (artifact.from !== 'url') continue
    await deliver(deliveredFile(artifact.sha256), Buffer.from(programBytes(artifact.name, '1')).toString())
  }
  await applied(host, plan, { through: 'node' })
  // All that was brought is there before anybody could ask for it.
  expect(host.images.there?.get('registry.example/addon:1')).toBe(newer)
  // What is still to come has not gone.
  expect(await host.files.list(deliveries)).toHaveLength(2)
  expect(await host.files.list(join(deliveries, 'images'))).toMatchObject([{ name: `${'b'.repeat(64)}.tar` }])
  await applied(host, plan)
  expect(host.fetch.asked).toEqual([])
  expect(host.images.calls.map((call) => call.split(' ')[1])).toEqual(['load', 'load'])
  expect(await host.files.stat(deliveries)).toBeUndefined()
  expect((await diffHost(host, plan)).ops).toEqual([])
})

test('delivered bytes that are not those of the plan are thrown away, and fetched', async () => {
  const plan = hostPlan(running('etcd', '1'))
  publish(host, plan)
  const [artifact] = plan.components.flatMap(({ artifacts }) => artifacts)
  if (artifact?.from !== 'url') throw new Error('no artifact')
  await deliver(deliveredFile(artifact.sha256), 'something else')
  await applied(host, plan)
  expect(host.fetch.asked).toEqual([artifact.url])
})
