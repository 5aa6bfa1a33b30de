import { toCommandError } from '../../kit/command.ts'
import type { RunCommand } from './command.ts'
import type { Images } from './host.ts'
import type { ToLocalPath } from './local-files.ts'

/** containerd namespace of the kubelet's images. */
const namespace = ['-n', 'k8s.io'] as const
const endpoint = 'unix:///run/containerd/containerd.sock'
/** Label of images that the kubelet must not delete. */
const pinnedLabel = 'io.cri-containerd.pinned'

export function createCtrImages(toLocalPath: ToLocalPath, command: RunCommand): Images {
  return {
    async find(ctr, names) {
      const filters = names.map((name) => `name==${name}`)
      const argv = [ctr, '--connect-timeout=2s', ...namespace, 'images', 'ls', ...filters] as const
      const result = await command(argv, { codes: [0, 1] }).catch(() => undefined)
      return result?.code === 0 ? parseImageList(result.stdout) : undefined
    },
    async pull(crictl, name, signal) {
      await command([crictl, '--runtime-endpoint', endpoint, '--image-endpoint', endpoint, 'pull', name], {
        signal,
      })
    },
    async load(ctr, archive, signal) {
      const label = `${pinnedLabel}=pinned`
      const argv = [
        ctr,
        ...namespace,
        'images',
        'import',
        '--local',
        '--label',
        label,
        toLocalPath(archive),
      ] as const
      await command(argv, { signal })
    },
    async rename(ctr, name, other) {
      const argv = [ctr, ...namespace, 'images', 'tag', '--local', '--force', name, other] as const
      // ctr deletes the name and creates it again. If a pull creates the name in between, ctr fails with
      // `already exists`, so it is run again.
      for (let retriesLeft = 3; retriesLeft >= 0; retriesLeft--) {
        const result = await command(argv, { codes: [0, 1] })
        if (result.code === 0) return
        if (retriesLeft === 0 || !result.stderr.includes('already exists'))
          throw toCommandError(argv.join(' '), result)
      }
    },
    async pin(ctr, name) {
      await command([ctr, ...namespace, 'images', 'label', name, `${pinnedLabel}=pinned`])
    },
    async unpin(ctr, name) {
      await command([ctr, ...namespace, 'images', 'label', name, `${pinnedLabel}=`])
    },
  }
}

/**
 * Parses the output of `ctr images ls` into digests, keyed by image name. The name is in the first column,
 * the digest in the third.
 */
export function parseImageList(text: string): ReadonlyMap<string, string> {
  const rows = text.split('\n').slice(1)
  return new Map(
    rows.flatMap((row) => {
      const [name = '', , digest = ''] = row.trim().split(/\s+/)
      return name === '' ? [] : [[name, digest] as const]
    }),
  )
}
