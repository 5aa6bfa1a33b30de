import { createHash } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { machineArch } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { formatImagePath, listImages } from '../../lab/mirror/images.ts'
import { manifestType } from '../../lab/mirror/oci-archive.ts'
import { listPublications } from '../../lab/mirror/publication.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { runProgram } from '../../src/kit/command.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import { openFreshLab } from '../support/lab.ts'

const blobSchema = z.object({ digest: z.string(), size: z.number() })
const manifestSchema = z.object({ mediaType: z.string(), config: blobSchema, layers: z.array(blobSchema) })
const lockSchema = z.object({
  artifacts: z.array(z.object({ url: z.string(), sha256: z.string() })),
  images: z.record(z.string(), z.string()),
})

let lab: Lab
let mirror: Mirror

beforeAll(async () => {
  lab = await openFreshLab('mirror')
  mirror = await openLabMirror(lab)
})
afterAll(async () => {
  try {
    await mirror.close()
  } finally {
    await lab.down()
  }
})

const arch = machineArch()
const publications = selectParts().flatMap((part) => listPublications(part, arch))
const images = selectParts().flatMap(listImages)
const checksums = publications.filter((publication) => publication.kind === 'checksum')

async function get(path: string): Promise<Buffer> {
  const response = await fetch(`${mirror.address}/${path}`)
  expect(response.status, path).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

function computeDigest(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

test.each(checksums)('$path has the digest of the served file', async ({ path, of }) => {
  const line = (await get(path)).toString().trim()
  const [digest, file] = line.split(/ [ *]/)
  expect(digest).toBe(
    createHash('sha256')
      .update(await get(of))
      .digest('hex'),
  )
  expect(file ?? basename(of)).toBe(basename(of))
})

test.each(images)(
  '$name has the same content in the registry and in its archive',
  async ({ name: image }) => {
    const [, host, name, tag] = /^([^/]+)\/(.+):(.+)$/.exec(image) ?? []
    const repository = `v2/${name}`
    const response = await fetch(`${mirror.address}/${repository}/manifests/${tag}?ns=${host}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(manifestType)
    const bytes = Buffer.from(await response.arrayBuffer())
    const digest = computeDigest(bytes)
    expect(response.headers.get('docker-content-digest')).toBe(digest)
    expect(await get(`${repository}/manifests/${digest}`)).toEqual(bytes)

    const { mediaType, config, layers } = manifestSchema.parse(JSON.parse(bytes.toString()))
    expect(mediaType).toBe(manifestType)
    for (const blob of [config, ...layers]) {
      const served = await get(`${repository}/blobs/${blob.digest}`)
      expect({ digest: computeDigest(served), size: served.length }).toEqual(blob)
    }
    const { stdout } = await runProgram(['tar', '-xO', './index.json'], {
      input: await get(formatImagePath(image)),
    })
    expect(JSON.parse(stdout)).toMatchObject({ manifests: [{ digest, size: bytes.length }] })
  },
)

test('the registry answers /v2/, and returns 404 for unknown images', async () => {
  expect((await fetch(`${mirror.address}/v2/`)).status).toBe(200)
  for (const path of [
    'v2/no-such-image/manifests/1',
    'v2/pause/manifests/0.0',
    `v2/pause/blobs/sha256:${'0'.repeat(64)}`,
    'v2/pause/manifests/3.10.2?ns=docker.io',
  ]) {
    const response = await fetch(`${mirror.address}/${path}`)
    expect(response.status, path).toBe(404)
    expect(await response.json()).toMatchObject({ errors: [{ code: expect.stringMatching(/_UNKNOWN$/) }] })
  }
  expect((await fetch(`${mirror.address}/v2/pause/blobs/uploads/`, { method: 'POST' })).status).toBe(405)
})

test('the mirror serves byte ranges', async () => {
  const whole = await get(formatImagePath('registry.k8s.io/pause:3.10.2'))
  const requestRange = async (range: string): Promise<Response> =>
    fetch(`${mirror.address}/${formatImagePath('registry.k8s.io/pause:3.10.2')}`, { headers: { range } })
  const rest = await requestRange('bytes=1000-')
  expect(rest.status).toBe(206)
  expect(rest.headers.get('content-range')).toBe(`bytes 1000-${whole.length - 1}/${whole.length}`)
  expect(Buffer.from(await rest.arrayBuffer())).toEqual(whole.subarray(1000))
  expect(Buffer.from(await (await requestRange('bytes=0-99')).arrayBuffer())).toEqual(whole.subarray(0, 100))
  expect((await requestRange(`bytes=${whole.length}-`)).status).toBe(416)
})

test('the mirror serves no files outside its directory', async () => {
  const parentPath = '..%2f'.repeat(20)
  for (const path of [
    'etc/passwd',
    `${parentPath}etc%2fpasswd`,
    'dl.k8s.io',
    `v2/pause/manifests/${parentPath}etc%2fpasswd`,
    `v2/pause/manifests/passwd?ns=${parentPath}etc`,
  ]) {
    expect((await fetch(`${mirror.address}/${path}`)).status, path).toBe(404)
  }
})

test('hyperkube lock pins the files and images that the mirror serves', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lock-'))
  try {
    const file = join(directory, 'cluster.yml')
    const hyperkube = [process.execPath, join(import.meta.dirname, '../../src/main.ts')] as const
    await runProgram([...hyperkube, 'init', '-f', file, '--host', '10.0.0.1=control-plane'], {
      env: { XDG_CONFIG_HOME: directory },
    })
    const registries = ['registry.k8s.io', 'docker.io'].map((host) => ({ host, mirrors: [mirror.address] }))
    await appendFile(
      file,
      `  artifacts: { mirror: ${mirror.address}, digests: mirror }\n  registries: ${JSON.stringify(registries)}\n`,
    )
    await runProgram([...hyperkube, 'lock', '-f', file, '--arch', arch])
    const lock = lockSchema.parse(parse(await readFile(join(directory, 'cluster.lock'), 'utf8')))
    expect(lock.artifacts.length).toBeGreaterThanOrEqual(12)
    for (const { url, sha256 } of lock.artifacts) {
      const served = await get(url.replace(/^https:\/\//, ''))
      expect(createHash('sha256').update(served).digest('hex'), url).toBe(sha256)
    }
    const pinned = Object.values(lock.images)
    expect(pinned.length).toBeGreaterThanOrEqual(6)
    for (const image of pinned) {
      const [, host, name, tag, digest] = /^([^/]+)\/(.+):(.+)@(sha256:.+)$/.exec(image) ?? []
      const served = await get(`v2/${name}/manifests/${tag}?ns=${host}`)
      expect(computeDigest(served), image).toBe(digest)
    }
    const again = await runProgram([...hyperkube, 'lock', '-f', file, '--arch', arch, '--check'])
    expect(again).toMatchObject({
      code: 0,
      stdout: `${join(directory, 'cluster.lock')}: no changes\n`,
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
