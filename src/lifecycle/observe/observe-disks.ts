import type { Remote } from '../../ssh/remote.ts'
import { callHost } from '../../ssh/windows/call-host.ts'
import { findHostProgram } from '../agents/host-program.ts'

/** An almost full file system. */
export interface FullDisk {
  readonly mounted: string
  /** Used share of the file system, from 0 to 1. */
  readonly usedShare: number
}

/** A program that a systemd unit starts and that is missing or empty. */
export interface MissingProgram {
  readonly service: string
  readonly path: string
}

export interface DiskState {
  readonly disks: readonly FullDisk[]
  readonly programs: readonly MissingProgram[]
}

/**
 * Prints the state of disks and of the programs of the given units. The agent reports the same, but it may
 * not answer.
 */
const inspectScript = `
df -Pk / /var/lib/etcd /var/lib/kubelet /var/lib/containerd 2>/dev/null | sed -n 's/^/disk /p'
for unit in "$@"; do
  path=$(systemctl show --property=ExecStart --value "$unit" | sed -n 's/^{ path=\\([^ ;]*\\) .*/\\1/p' | head -n 1)
  [ -z "$path" ] || [ -s "$path" ] || echo "program $unit $path"
done
`

export async function observeDiskState(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<DiskState> {
  if (remote.windows !== undefined) {
    const request = { type: 'disk-state', names } as const
    return callHost(await findHostProgram(remote, signal), request, 'disk-state', signal)
  }
  const units = names.map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', inspectScript, 'observe', ...units], {
    signal,
    root: true,
  })
  return parseDiskState(stdout)
}

/**
 * A file system counts as full if at least this share is used. etcd and kubelets then fail or are about to
 * fail.
 */
const fullShare = 0.98

export function parseDiskState(text: string): DiskState {
  const lines = text.split('\n')
  const disks = lines.flatMap((line): [string, FullDisk][] => {
    const [, used = '', free = '', mounted = ''] =
      /^disk \S+\s+\d+\s+(\d+)\s+(\d+)\s+\S+\s+(\/.*)$/.exec(line) ?? []
    const share = Number(used) / (Number(used) + Number(free))
    return mounted !== '' && share >= fullShare ? [[mounted, { mounted, usedShare: share }]] : []
  })
  const programs = lines.flatMap((line): MissingProgram[] => {
    const [, service = '', path = ''] = /^program (\S+)\.service (.+)$/.exec(line) ?? []
    return path === '' ? [] : [{ service, path }]
  })
  // Several directories may be on the same file system, which is listed only once.
  return { disks: [...new Map(disks).values()], programs }
}
