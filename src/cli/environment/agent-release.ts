import { dirname, join, resolve } from 'node:path'
import packageFile from '../../../package.json' with { type: 'json' }
import type { Arch, Os } from '../../catalog/artifacts.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { fileExists } from '../../kit/files.ts'
import type { AgentRelease } from '../../lifecycle/agents/agent-release.ts'
import { readRelease } from '../../lifecycle/agents/release-file.ts'

const fileNames: Readonly<Record<Os, Partial<Record<Arch, string>>>> = {
  linux: { amd64: 'hyperkube-linux-x64', arm64: 'hyperkube-linux-arm64' },
  windows: { amd64: 'hyperkube-windows-x64.exe' },
}
const platforms: Readonly<Record<Os, NodeJS.Platform>> = { linux: 'linux', windows: 'win32' }
const localArches: Readonly<Record<string, Arch>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Finds the executable to install on hosts with an architecture and OS. If these are the same as on this
 * machine, returns the running executable. Otherwise the executable must be in the directory of the running
 * one, or in dist/ if hyperkube runs from its sources.
 */
export async function findAgentRelease(
  arch: Arch,
  os: Os,
  executable: string | undefined,
  cacheDirectory: () => string,
): Promise<AgentRelease> {
  const isThisMachine =
    executable !== undefined && process.platform === platforms[os] && localArches[process.arch] === arch
  const name = fileNames[os][arch] ?? `hyperkube-${os}-${arch}`
  const directory =
    executable === undefined ? resolve(import.meta.dirname, '../../../dist') : dirname(executable)
  const file = isThisMachine ? executable : join(directory, name)
  if (!(await fileExists(file))) {
    throw new HyperkubeError('RELEASE_NOT_THERE', `no hyperkube executable for ${os} on ${arch} at ${file}`, {
      hint:
        executable === undefined
          ? 'build it: npm run executable'
          : `copy ${name} of the same release to ${directory}`,
    })
  }
  return readRelease(file, packageFile.version, cacheDirectory)
}
