import type { RunCommand } from '../../host/command.ts'
import { createCtrImages } from '../../host/ctr-images.ts'
import type { Images } from '../../host/images.ts'
import { join } from '../../host/host-path.ts'
import type { WindowsLayout } from '../../host/layout.ts'

/**
 * Images through ctr and its default pipe. Pulls use the registry hosts that containerd is configured with.
 */
export function createWindowsImages(
  { settings }: Pick<WindowsLayout, 'settings'>,
  command: RunCommand,
): Images {
  const hosts = join(settings, 'containerd', 'certs.d')
  return {
    ...createCtrImages((path) => path, command),
    async pull(ctr, name, signal) {
      await command([ctr, '-n', 'k8s.io', 'images', 'pull', '--hosts-dir', hosts, name], { signal })
    },
  }
}
