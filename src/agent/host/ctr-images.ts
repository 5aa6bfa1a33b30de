import { commandFailed } from '../../kit/command.ts'
import type { Command } from './command.ts'
import type { Images } from './images.ts'
import type { Place } from './local-path.ts'

/** Where the kubelet's images are, among those of others. */
const namespace = ['-n', 'k8s.io'] as const
const endpoint = 'unix:///run/containerd/containerd.sock'
/** What the kubelet is told by the runtime, and does not remove. */
const kept = 'io.cri-containerd.pinned'

export function ctrImages(place: Place, command: Command): Images {
  return {
    async find(ctr, names) {
      const filters = names.map((name) => `name==${name}`)
      const argv = [ctr, '--connect-timeout=2s', ...namespace, 'images', 'ls', ...filters] as const
      const asked = await command(argv, { codes: [0, 1] }).catch(() => undefined)
      return asked?.code === 0 ? readList(asked.stdout) : undefined
    },
    async pull(crictl, name, signal) {
      await command([crictl, '--runtime-endpoint', endpoint, '--image-endpoint', endpoint, 'pull', name], {
        signal,
      })
    },
    async load(ctr, archive, signal) {
      const label = `${kept}=pinned`
      const argv = [
        ctr,
        ...namespace,
        'images',
        'import',
        '--local',
        '--label',
        label,
        place(archive),
      ] as const
      await command(argv, { signal })
    },
    async rename(ctr, name, other) {
      const argv = [ctr, ...namespace, 'images', 'tag', '--local', '--force', name, other] as const
      // It takes the name away and gives it anew. Where a pull gives it in between, that is not what was wished: once more.
      for (let left = 3; left >= 0; left--) {
        const result = await command(argv, { codes: [0, 1] })
        if (result.code === 0) return
        if (left === 0 || !result.stderr.includes('already exists'))
          throw commandFailed(argv.join(' '), result)
      }
    },
    async keep(ctr, name) {
      await command([ctr, ...namespace, 'images', 'label', name, `${kept}=pinned`])
    },
    async release(ctr, name) {
      await command([ctr, ...namespace, 'images', 'label', name, `${kept}=`])
    },
  }
}

/** A table with a head; of each row the first and the third column. */
export function readList(text: string): ReadonlyMap<string, string> {
  const rows = text.split('\n').slice(1)
  return new Map(
    rows.flatMap((row) => {
      const [name = '', , digest = ''] = row.trim().split(/\s+/)
      return name === '' ? [] : [[name, digest] as const]
    }),
  )
}
