import { createHash } from 'node:crypto'
import {
  chmod,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { hashFile } from '../../src/kit/files.ts'
import type { Arch } from '../components/recipe.ts'
import type { Image } from './image.ts'
import { contentPath, tagPath } from './registry-paths.ts'
import { reproducibleTarFlags } from './reproducible-tar.ts'

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const layerType = 'application/vnd.oci.image.layer.v1.tar'
const configType = 'application/vnd.oci.image.config.v1+json'
export const manifestType = 'application/vnd.oci.image.manifest.v1+json'

interface Blob {
  readonly digest: string
  readonly size: number
}

/**
 * Writes an image twice below `root`: as an OCI archive, which is an image layout in one tar file, and as
 * files of a registry. `programs` is the directory with the files of the upstream component (part).
 */
export async function writeImage(
  image: Image,
  arch: Arch,
  programs: string,
  { root, archive }: { readonly root: string; readonly archive: string },
): Promise<void> {
  const work = await mkdtemp(join(root, '.image-'))
  try {
    const layout = join(work, 'layout')
    await mkdir(join(layout, 'blobs/sha256'), { recursive: true })
    const layer = await packLayer(image, programs, work, layout)
    const config = await addJson(layout, {
      architecture: arch,
      os: 'linux',
      config: {
        Entrypoint: image.entrypoint,
        Cmd: image.command,
        Env: Object.entries({ PATH: defaultPath, ...image.environment }).map(
          ([name, value]) => `${name}=${value}`,
        ),
        WorkingDir: '/',
        User: image.user,
        ...(image.volumes === undefined
          ? {}
          : { Volumes: Object.fromEntries(image.volumes.map((path) => [path, {}])) }),
      },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    })
    const manifest = await addJson(layout, {
      schemaVersion: 2,
      mediaType: manifestType,
      config: { mediaType: configType, ...config },
      layers: [{ mediaType: layerType, ...layer }],
    })
    await writeFile(
      join(layout, 'index.json'),
      JSON.stringify({
        schemaVersion: 2,
        manifests: [
          {
            mediaType: manifestType,
            ...manifest,
            platform: { architecture: arch, os: 'linux' },
            annotations: {
              'io.containerd.image.name': image.name,
              'org.opencontainers.image.ref.name': image.name.slice(image.name.lastIndexOf(':') + 1),
            },
          },
        ],
      }),
    )
    await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
    await runProgram(['tar', ...reproducibleTarFlags, '-C', layout, '-cf', join(work, 'image.tar'), '.'])
    await rename(join(work, 'image.tar'), join(root, archive))
    const digests = { manifest: manifest.digest, blobs: [config.digest, layer.digest] }
    await moveToRegistry(image.name, layout, digests, root)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function packLayer(image: Image, programs: string, work: string, layout: string): Promise<Blob> {
  const root = join(work, 'root')
  for (const directory of ['etc', 'tmp', 'proc', 'sys', 'dev']) {
    await mkdir(join(root, directory), { recursive: true })
  }
  await runProgram(['chmod', '1777', join(root, 'tmp')])
  for (const [program, path] of Object.entries(image.programs)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await copyFile(join(programs, program), join(root, path))
  }
  if (image.busybox) await addBusybox(root)
  if (image.debian !== undefined) await addDebianPackages(root, image.debian, image.debianExclude ?? [], work)
  for (const [path, text] of Object.entries(image.files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  for (const [path, text] of Object.entries(image.scripts ?? {})) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await rm(join(root, path), { force: true })
    await writeFile(join(root, path), text)
    await chmod(join(root, path), 0o755)
  }
  for (const [path, target] of Object.entries(image.links ?? {})) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await rm(join(root, path), { force: true })
    await symlink(target, join(root, path))
  }
  for (const program of image.setuid ?? []) await chmod(join(root, program), 0o6755)
  const packed = join(work, 'layer.tar')
  await runProgram(['tar', ...reproducibleTarFlags, '-C', root, '-cf', packed, '.'])
  return addFile(layout, packed)
}

async function addBusybox(root: string): Promise<void> {
  await mkdir(join(root, 'bin'), { recursive: true })
  await copyFile('/bin/busybox', join(root, 'bin/busybox'))
  const { stdout } = await runProgram(['/bin/busybox', '--list'])
  for (const applet of stdout.trim().split('\n')) {
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet))
  }
}

/**
 * Downloads Debian packages with all dependencies, as if nothing were installed, and unpacks them without
 * running their scripts.
 */
async function addDebianPackages(
  root: string,
  names: readonly string[],
  exclude: readonly string[],
  work: string,
): Promise<void> {
  const archives = join(work, 'archives')
  await mkdir(join(archives, 'partial'), { recursive: true })
  await writeFile(join(work, 'status'), '')
  await runProgram([
    'apt-get',
    'install',
    '--quiet',
    '--yes',
    '--download-only',
    '--no-install-recommends',
    `--option=Dir::State::status=${join(work, 'status')}`,
    `--option=Dir::Cache::archives=${archives}`,
    '--option=APT::Sandbox::User=root',
    '--option=Debug::NoLocking=1',
    ...names,
  ])
  for (const file of (await readdir(archives)).filter((name) => name.endsWith('.deb')).toSorted()) {
    const unpacked = join(work, 'package.tar')
    await runProgram([
      'sh',
      '-c',
      'dpkg-deb --fsys-tarfile "$1" > "$2"',
      'sh',
      join(archives, file),
      unpacked,
    ])
    const flags = exclude.map((path) => `--exclude=./${path}`)
    await runProgram(['tar', '-x', '-p', ...flags, '-f', unpacked, '-C', root])
  }
  for (const unused of ['usr/share/doc', 'usr/share/locale', 'usr/share/man']) {
    await rm(join(root, unused), { recursive: true, force: true })
  }
}

async function addJson(layout: string, value: unknown): Promise<Blob> {
  const bytes = Buffer.from(JSON.stringify(value))
  const hex = createHash('sha256').update(bytes).digest('hex')
  await writeFile(join(layout, 'blobs/sha256', hex), bytes)
  return { digest: `sha256:${hex}`, size: bytes.length }
}

async function addFile(layout: string, file: string): Promise<Blob> {
  const hex = await hashFile(file)
  const { size } = await stat(file)
  await rename(file, join(layout, 'blobs/sha256', hex))
  return { digest: `sha256:${hex}`, size }
}

interface LayoutDigests {
  readonly manifest: string
  readonly blobs: readonly string[]
}

/** Moves the blobs of an image layout to the paths that registry clients request, below `root`. */
async function moveToRegistry(
  image: string,
  layout: string,
  digests: LayoutDigests,
  root: string,
): Promise<void> {
  const move = async (digest: string, path: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await rename(join(layout, 'blobs', digest.replace(':', '/')), join(root, path))
  }
  for (const digest of digests.blobs) await move(digest, contentPath(image, 'blobs', digest))
  const manifest = contentPath(image, 'manifests', digests.manifest)
  await move(digests.manifest, manifest)
  await link(join(root, manifest), join(root, tagPath(image)))
}
