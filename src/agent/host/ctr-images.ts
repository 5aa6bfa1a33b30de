import type { Command } from './command.ts'
import type { Images } from './images.ts'
import type { Place } from './place.ts'

/** Where the kubelet's images are, among those of others. */
const namespace = 'k8s.io'

export function ctrImages(place: Place, command: Command): Images {
  return {
    async list(program) {
      const argv = [program, '--connect-timeout=2s', '-n', namespace, 'images', 'ls', '-q'] as const
      const asked = await command(argv, { codes: [0, 1] }).catch(() => undefined)
      return asked?.code === 0 ? new Set(asked.stdout.split('\n').filter((name) => name !== '')) : undefined
    },
    async load(program, archive) {
      await command([program, '-n', namespace, 'images', 'import', '--local', place(archive)])
    },
  }
}
