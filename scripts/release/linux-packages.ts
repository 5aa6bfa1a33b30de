import { chmod, copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runProgram } from '../../src/kit/command.ts'
import { completionScripts } from '../../src/cli/completion/scripts.ts'
import { renderManPages } from '../man-pages.ts'
import type { ReleaseSource } from './source.ts'

export interface LinuxPackageOptions {
  readonly source: ReleaseSource
  /** The executable of the architecture. */
  readonly executable: string
  readonly arch: 'x64' | 'arm64'
  /** Text of the licence. */
  readonly license: string
  readonly directory: string
}

const summary = 'Installs Kubernetes on a list of machines and manages its whole life cycle'
const maintainer = 'hyperkube maintainers <maintainers@hyperkube.invalid>'
const debianArches = { x64: 'amd64', arm64: 'arm64' } as const
const rpmArches = { x64: 'x86_64', arm64: 'aarch64' } as const

/** Writes the files of a package below `root`: program, manual pages, completions and licence. */
export async function writePackageFiles(root: string, options: LinuxPackageOptions): Promise<void> {
  const write = async (path: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
    await chmod(join(root, path), 0o644)
  }
  await mkdir(join(root, 'usr/bin'), { recursive: true })
  await copyFile(options.executable, join(root, 'usr/bin/hyperkube'))
  await chmod(join(root, 'usr/bin/hyperkube'), 0o755)
  for (const [name, text] of await renderManPages())
    await write(`usr/share/man/man1/${name}.gz`, gzipSync(text))
  await write('usr/share/bash-completion/completions/hyperkube', completionScripts.bash)
  await write('usr/share/zsh/site-functions/_hyperkube', completionScripts.zsh)
  await write('usr/share/fish/vendor_completions.d/hyperkube.fish', completionScripts.fish)
  await write('usr/share/doc/hyperkube/copyright', options.license)
}

/** Builds a package for Debian and its derivatives, and returns its file name. */
export async function buildDebianPackage(options: LinuxPackageOptions): Promise<string> {
  const { source, arch, directory } = options
  const name = `hyperkube_${source.version}_${debianArches[arch]}.deb`
  const root = join(directory, `.deb-${arch}`)
  try {
    await writePackageFiles(root, options)
    await mkdir(join(root, 'DEBIAN'))
    await writeFile(
      join(root, 'DEBIAN/control'),
      [
        'Package: hyperkube',
        `Version: ${source.version}`,
        `Architecture: ${debianArches[arch]}`,
        `Maintainer: ${maintainer}`,
        'Section: admin',
        'Priority: optional',
        // Node's executable needs these libraries.
        'Depends: libc6 (>= 2.28), libstdc++6 (>= 8)',
        'Recommends: ca-certificates, openssh-client',
        `Description: ${summary}`,
        '',
      ].join('\n'),
    )
    await setTimes(root, source.epoch)
    await runProgram(['dpkg-deb', '--root-owner-group', '-Zgzip', '--build', root, join(directory, name)], {
      env: { PATH: process.env['PATH'], SOURCE_DATE_EPOCH: String(source.epoch) },
    })
    return name
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** Builds a package for Fedora, RHEL and their derivatives, and returns its file name. */
export async function buildRpmPackage(options: LinuxPackageOptions): Promise<string> {
  const { source, arch, directory } = options
  const name = `hyperkube-${source.version}-1.${rpmArches[arch]}.rpm`
  const work = join(directory, `.rpm-${arch}`)
  try {
    const files = join(work, 'files')
    await writePackageFiles(files, options)
    await setTimes(files, source.epoch)
    await writeFile(join(work, 'hyperkube.spec'), renderSpec(source.version))
    const macros = {
      _topdir: join(work, 'top'),
      staged_files: files,
      _buildhost: 'hyperkube',
      _build_id_links: 'none',
      // Stripping would remove the program from the executable.
      __os_install_post: '%{nil}',
      debug_package: '%{nil}',
      _binary_payload: 'w6.gzdio',
      use_source_date_epoch_as_buildtime: '1',
      clamp_mtime_to_source_date_epoch: '1',
    }
    const defines = Object.entries(macros).flatMap(([key, value]) => ['--define', `${key} ${value}`])
    await runProgram(
      ['rpmbuild', '-bb', '--target', `${rpmArches[arch]}-linux`, ...defines, join(work, 'hyperkube.spec')],
      { env: { PATH: process.env['PATH'], HOME: work, SOURCE_DATE_EPOCH: String(source.epoch) } },
    )
    await rename(join(work, 'top/RPMS', rpmArches[arch], name), join(directory, name))
    return name
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function renderSpec(version: string): string {
  return `Name: hyperkube
Version: ${version}
Release: 1
Summary: ${summary}
License: Apache-2.0
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++

%description
${summary}.

%install
cp -a %{staged_files}/. %{buildroot}/

%files
%attr(0755, root, root) /usr/bin/hyperkube
%attr(0644, root, root) /usr/share/man/man1/hyperkube*.1.gz
%attr(0644, root, root) /usr/share/bash-completion/completions/hyperkube
%attr(0644, root, root) /usr/share/zsh/site-functions/_hyperkube
%attr(0644, root, root) /usr/share/fish/vendor_completions.d/hyperkube.fish
%attr(0644, root, root) /usr/share/doc/hyperkube/copyright
`
}

/** Gives all files the time of the commit. */
async function setTimes(root: string, epoch: number): Promise<void> {
  await runProgram(['find', root, '-exec', 'touch', '--no-dereference', `--date=@${epoch}`, '{}', '+'])
}
