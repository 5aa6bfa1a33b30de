import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import packageFile from '../../package.json' with { type: 'json' }
import { exists } from '../kit/files.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { OwnRelease } from '../lifecycle/agent-install.ts'
import type { Arch, Os } from '../catalog/artifact-target.ts'

const files: Readonly<Record<Os, Partial<Record<Arch, string>>>> = {
  linux: { amd64: 'hyperkube-linux-x64', arm64: 'hyperkube-linux-arm64' },
  windows: { amd64: 'hyperkube-windows-x64.exe' },
}
const platforms: Readonly<Record<Os, NodeJS.Platform>> = { linux: 'linux', windows: 'win32' }
const own: Readonly<Record<string, Arch>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * The executable that hosts of a kind get. A host like this machine gets the very program that runs now; for others, and
 * when it runs from its sources, the files are looked for where releases and `npm run executable` put them.
 */
export async function ownRelease(arch: Arch, os: Os, executable: string | undefined): Promise<OwnRelease> {
  const here = executable !== undefined && process.platform === platforms[os] && own[process.arch] === arch
  const name = files[os][arch] ?? `hyperkube-${os}-${arch}`
  const directory =
    executable === undefined ? resolve(import.meta.dirname, '../../dist') : dirname(executable)
  const file = here ? executable : join(directory, name)
  if (!(await exists(file))) {
    throw new HyperkubeError(
      'RELEASE_NOT_THERE',
      `there is no executable for ${os === 'linux' ? '' : `${os} on `}${arch} at ${file}`,
      {
        hint: executable === undefined ? 'npm run executable' : `put ${name} of the same release beside it`,
      },
    )
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash)
  const sha256 = hash.digest('hex')
  return { version: `${packageFile.version}-${sha256.slice(0, 8)}`, file, sha256 }
}
