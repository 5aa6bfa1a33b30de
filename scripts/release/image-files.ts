import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { runProgram } from '../../src/kit/command.ts'

export type ImageArch = 'x64' | 'arm64'

/** A package of the build machine's distribution from which an image contains shared libraries. */
export interface LibraryPackage {
  readonly name: string
  readonly version: string
  /** Package URL, which also names the distribution. */
  readonly purl: string
}

interface LibrarySource {
  /** Directory of the libraries on this machine. */
  readonly from: string
  /** Path of the dynamic loader in the image, as executables name it. */
  readonly loader: string
  /** Debian packages with the libraries. */
  readonly packages: readonly string[]
}

/** Libraries of arm64 come from packages for cross compilers, so that any machine can build the image. */
const sources: Readonly<Record<ImageArch, LibrarySource>> = {
  x64: {
    from: '/lib/x86_64-linux-gnu',
    loader: 'lib64/ld-linux-x86-64.so.2',
    packages: ['libc6', 'libgcc-s1', 'libstdc++6'],
  },
  arm64: {
    from: '/usr/aarch64-linux-gnu/lib',
    loader: 'lib/ld-linux-aarch64.so.1',
    packages: ['libc6-arm64-cross', 'libgcc-s1-arm64-cross', 'libstdc++6-arm64-cross'],
  },
}

/** What Node's executable is linked with. Name resolution is a part of libc itself. */
const libraries = [
  'libc.so.6',
  'libdl.so.2',
  'libgcc_s.so.1',
  'libm.so.6',
  'libpthread.so.0',
  'libresolv.so.2',
  'libstdc++.so.6',
]

/**
 * Writes the files of an image below `root`, except the executable: shared libraries with their licences, CA
 * certificates, and the files in which programs look up users. Returns the packages of the libraries.
 */
export async function writeImageFiles(root: string, arch: ImageArch): Promise<readonly LibraryPackage[]> {
  const { from, loader, packages } = sources[arch]
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  const copy = async (source: string, path: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await copyFile(source, join(root, path))
  }
  await copy(join(from, loader.slice(loader.lastIndexOf('/') + 1)), loader)
  for (const name of libraries) await copy(join(from, name), join('lib', name))
  for (const name of packages) {
    const copyright = `usr/share/doc/${name}/copyright`
    await write(copyright, await readFile(`/${copyright}`, 'utf8'))
  }
  // Certificates of the machine could contain local CAs. These are Mozilla's, from the pinned Node.
  await write('etc/ssl/certs/ca-certificates.crt', `${rootCertificates.join('\n')}\n`)
  await write('etc/passwd', 'root:x:0:0:root:/root:/usr/bin/hyperkube\n')
  await write('etc/group', 'root:x:0:\n')
  for (const name of ['root', 'tmp', 'work']) await mkdir(join(root, name), { recursive: true })
  return Promise.all(packages.map(readLibraryPackage))
}

/** Reads the version of an installed package. Throws if its libraries were changed on this machine. */
async function readLibraryPackage(name: string): Promise<LibraryPackage> {
  const { stdout: changes } = await runProgram(['dpkg', '--verify', name], { allowFailure: true })
  const changed = changes.split('\n').filter((line) => line.includes('/lib/'))
  if (changed.length > 0)
    throw new Error(`files of ${name} were changed on this machine: ${changed.join(', ')}`)
  const { stdout } = await runProgram(['dpkg-query', '--show', '--showformat', '${Version}', name])
  const version = stdout.trim()
  const release = await readFile('/etc/os-release', 'utf8')
  const distribution = /^ID=(\w+)$/m.exec(release)?.[1] ?? 'debian'
  const purl = `pkg:deb/${distribution}/${encodeURIComponent(name)}@${encodeURIComponent(version)}`
  return { name, version, purl }
}
