import type { Remote } from '../../ssh/remote.ts'
import { callHost } from '../../ssh/windows/call-host.ts'
import { calleeOn } from '../host-program.ts'

/** A file system on which hardly anything fits any more. */
export interface FullDisk {
  readonly mounted: string
  /** From 0 to 1. */
  readonly used: number
}

/** A program that a unit would start, and that is gone or empty. */
export interface LostProgram {
  readonly service: string
  readonly path: string
}

export interface Ground {
  readonly disks: readonly FullDisk[]
  readonly programs: readonly LostProgram[]
}

/** Arguments: the names of services. What an agent would say as well, for when there is none that answers. */
const look = `
df -Pk / /var/lib/etcd /var/lib/kubelet /var/lib/containerd 2>/dev/null | sed -n 's/^/disk /p'
for unit in "$@"; do
  path=$(systemctl show --property=ExecStart --value "$unit" | sed -n 's/^{ path=\\([^ ;]*\\) .*/\\1/p' | head -n 1)
  [ -z "$path" ] || [ -s "$path" ] || echo "program $unit $path"
done
`

export async function lookAtGround(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Ground> {
  if (remote.windows !== undefined) {
    const ask = { type: 'ground', names } as const
    return callHost(await calleeOn(remote, signal), ask, 'ground', signal)
  }
  const units = names.map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', look, 'look', ...units], { signal, root: true })
  return groundOf(stdout)
}

/** More than this share used: etcd and kubelets are about to fail, or do already. */
const full = 0.98

export function groundOf(text: string): Ground {
  const lines = text.split('\n')
  const disks = lines.flatMap((line): [string, FullDisk][] => {
    const [, used = '', free = '', mounted = ''] =
      /^disk \S+\s+\d+\s+(\d+)\s+(\d+)\s+\S+\s+(\/.*)$/.exec(line) ?? []
    const share = Number(used) / (Number(used) + Number(free))
    return mounted !== '' && share >= full ? [[mounted, { mounted, used: share }]] : []
  })
  const programs = lines.flatMap((line): LostProgram[] => {
    const [, service = '', path = ''] = /^program (\S+)\.service (.+)$/.exec(line) ?? []
    return path === '' ? [] : [{ service, path }]
  })
  // Directories that share a file system are named once.
  return { disks: [...new Map(disks).values()], programs }
}
