import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { runProgram } from '../../src/kit/command.ts'
import { packImage } from './image.ts'

const source = { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000, isTagged: true }
const descriptor = z.looseObject({ digest: z.string(), size: z.int() })
const index = z.looseObject({ manifests: z.array(descriptor) })
const manifest = z.looseObject({ config: descriptor, layers: z.tuple([descriptor]) })
const config = z.looseObject({
  rootfs: z.object({ type: z.literal('layers'), diff_ids: z.array(z.string()) }),
})

let directory: string
let layout: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-image-'))
  layout = join(directory, 'layout')
  await mkdir(layout)
  await runProgram(['tar', '-xf', await pack('one'), '-C', layout])
})
afterAll(async () => rm(directory, { recursive: true }))

/** Packs an image of two platforms in its own directory, and returns the path of the archive. */
async function pack(name: string): Promise<string> {
  const work = join(directory, name)
  const platforms = []
  for (const arch of ['x64', 'arm64'] as const) {
    const files = join(work, arch)
    await mkdir(join(files, 'etc'), { recursive: true })
    await writeFile(join(files, 'etc/passwd'), 'root\n')
    const executable = join(work, `program-${arch}`)
    await writeFile(executable, `program for ${arch}\n`)
    platforms.push({ arch, executable, files })
  }
  return join(work, await packImage(source, platforms, work))
}

/** Reads a blob, and checks its size and digest. */
async function readBlob({ digest, size }: z.infer<typeof descriptor>): Promise<Buffer> {
  const content = await readFile(join(layout, 'blobs', digest.replace(':', '/')))
  expect(content).toHaveLength(size)
  expect(hash(content)).toBe(digest)
  return content
}

function hash(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

async function readManifests(): Promise<readonly z.infer<typeof descriptor>[]> {
  const [top] = index.parse(JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'))).manifests
  if (top === undefined) throw new Error('index.json is empty')
  expect(top).toMatchObject({
    annotations: {
      'io.containerd.image.name': 'localhost/hyperkube:1.2.3',
      'org.opencontainers.image.ref.name': '1.2.3',
    },
  })
  return index.parse(JSON.parse((await readBlob(top)).toString())).manifests
}

test('every descriptor names an existing blob, and the configuration names the content of the layer', async () => {
  expect(JSON.parse(await readFile(join(layout, 'oci-layout'), 'utf8'))).toEqual({
    imageLayoutVersion: '1.0.0',
  })
  const manifests = await readManifests()
  expect(manifests).toMatchObject([
    { platform: { architecture: 'amd64', os: 'linux' } },
    { platform: { architecture: 'arm64', os: 'linux' } },
  ])
  for (const one of manifests) {
    const { config: configBlob, layers } = manifest.parse(JSON.parse((await readBlob(one)).toString()))
    const { rootfs } = config.parse(JSON.parse((await readBlob(configBlob)).toString()))
    expect(rootfs.diff_ids).toEqual([hash(gunzipSync(await readBlob(layers[0])))])
  }
})

test('the layer contains the program and the files, owned by root', async () => {
  const [first] = await readManifests()
  if (first === undefined) throw new Error('there is no manifest')
  const { layers } = manifest.parse(JSON.parse((await readBlob(first)).toString()))
  const blob = join(layout, 'blobs', layers[0].digest.replace(':', '/'))
  const { stdout } = await runProgram(['tar', '--numeric-owner', '-tvzf', blob])
  expect(stdout).toMatch(/^-rwxr-xr-x 0\/0 +\d+ \S+ \S+ \.\/usr\/bin\/hyperkube$/m)
  expect(stdout).toMatch(/^-rw-r--r-- 0\/0 +\d+ \S+ \S+ \.\/etc\/passwd$/m)
})

test('another directory and another time give the same bytes', async () => {
  const [one, two] = [join(directory, 'one/hyperkube-1.2.3-image.tar'), await pack('two')]
  expect((await readFile(one)).equals(await readFile(two))).toBe(true)
})
