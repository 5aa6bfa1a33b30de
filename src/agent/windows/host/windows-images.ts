import type { Command } from '../../host/command.ts'
import { ctrImages } from '../../host/ctr-images.ts'
import type { Images } from '../../host/images.ts'
import { join } from '../../host/host-path.ts'
import type { WindowsLayout } from '../../host/layout.ts'

/** By containerd's own program, over the pipe that it listens at by itself; from where containerd was told that images come from. */
export function windowsImages({ settings }: Pick<WindowsLayout, 'settings'>, command: Command): Images {
  const hosts = join(settings, 'containerd', 'certs.d')
  return {
    ...ctrImages((path) => path, command),
    async pull(ctr, name, signal) {
      await command([ctr, '-n', 'k8s.io', 'images', 'pull', '--hosts-dir', hosts, name], { signal })
    },
  }
}
