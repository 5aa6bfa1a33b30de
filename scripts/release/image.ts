import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, copyFile, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { hashFile } from '../../src/kit/files.ts'
import { packTar } from './archive.ts'
import type { ImageArch } from './image-files.ts'
import type { ReleaseSource } from './source.ts'

/** One platform of the image. */
export interface PlatformImage {
  readonly arch: ImageArch
  readonly executable: string
  /** Directory with all other files of the image. The executable is added to it. */
  readonly files: string
}

/** Reference to a blob of the layout, as OCI defines it. */
interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const ociArches = { x64: 'amd64', arm64: 'arm64' } as const
const mediaTypes = {
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
} as const

/**
 * Packs an OCI image layout with one layer for each platform, and returns the name of the archive. containerd
 * imports it without a registry.
 */
export async function packImage(
  source: ReleaseSource,
  platforms: readonly PlatformImage[],
  directory: string,
): Promise<string> {
  const name = `hyperkube-${source.version}-image.tar`
  const layout = join(directory, '.image')
  try {
    await mkdir(join(layout, 'blobs/sha256'), { recursive: true })
    const manifests = []
    for (const platform of platforms)
      manifests.push({
        ...(await writeManifest(layout, source, platform)),
        platform: { architecture: ociArches[platform.arch], os: 'linux' },
      })
    const index = await writeBlob(layout, mediaTypes.index, {
      schemaVersion: 2,
      mediaType: mediaTypes.index,
      manifests,
    })
    const annotations = {
      // containerd stores the image with this name. Other tools use the tag.
      'io.containerd.image.name': `localhost/hyperkube:${source.version}`,
      'org.opencontainers.image.ref.name': source.version,
    }
    await writeJson(join(layout, 'index.json'), {
      schemaVersion: 2,
      mediaType: mediaTypes.index,
      manifests: [{ ...index, annotations }],
    })
    await writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' })
    await packTar(join(directory, name), layout, ['oci-layout', 'index.json', 'blobs'], source.epoch)
    return name
  } finally {
    await rm(layout, { recursive: true, force: true })
  }
}

/** Writes layer, configuration and manifest of one platform. */
async function writeManifest(
  layout: string,
  source: ReleaseSource,
  { arch, executable, files }: PlatformImage,
): Promise<Descriptor> {
  await mkdir(join(files, 'usr/bin'), { recursive: true })
  await copyFile(executable, join(files, 'usr/bin/hyperkube'))
  await chmod(join(files, 'usr/bin/hyperkube'), 0o755)
  const { layer, diffId } = await writeLayer(layout, files, source.epoch)
  const labels = {
    'org.opencontainers.image.title': 'hyperkube',
    'org.opencontainers.image.version': source.version,
    'org.opencontainers.image.revision': source.commit,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  }
  const created = new Date(source.epoch * 1000).toISOString().replace('.000Z', 'Z')
  const config = await writeBlob(layout, mediaTypes.config, {
    created,
    architecture: ociArches[arch],
    os: 'linux',
    config: {
      Entrypoint: ['/usr/bin/hyperkube'],
      Cmd: ['--help'],
      Env: ['PATH=/usr/bin', 'HOME=/root'],
      // Commands find cluster.yml in the directory that is mounted here.
      WorkingDir: '/work',
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
    history: [{ created, created_by: 'npm run release' }],
  })
  return writeBlob(layout, mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config,
    layers: [layer],
    annotations: labels,
  })
}

/** Packs the files as a layer. `diffId` is the digest of the layer before compression. */
async function writeLayer(
  layout: string,
  files: string,
  epoch: number,
): Promise<{ readonly layer: Descriptor; readonly diffId: string }> {
  const archive = join(layout, 'layer.tar')
  await packTar(archive, files, ['.'], epoch)
  const diffId = await hashFile(archive)
  const compressed = `${archive}.gz`
  await pipeline(createReadStream(archive), createGzip(), createWriteStream(compressed))
  await rm(archive)
  const sha256 = await hashFile(compressed)
  const { size } = await stat(compressed)
  await rename(compressed, join(layout, 'blobs/sha256', sha256))
  return { layer: { mediaType: mediaTypes.layer, digest: `sha256:${sha256}`, size }, diffId }
}

async function writeBlob(layout: string, mediaType: string, content: object): Promise<Descriptor> {
  const text = JSON.stringify(content)
  const sha256 = createHash('sha256').update(text).digest('hex')
  await writeFile(join(layout, 'blobs/sha256', sha256), text)
  return { mediaType, digest: `sha256:${sha256}`, size: Buffer.byteLength(text) }
}

async function writeJson(file: string, content: object): Promise<void> {
  await writeFile(file, JSON.stringify(content))
}
