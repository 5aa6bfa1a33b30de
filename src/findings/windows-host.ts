import type { Entries } from './entry.ts'

export const windowsHost: Entries = {
  HOST_WINDOWS_TOO_OLD: {
    summary: 'The host’s Windows is older than Server 2019.',
    meaning: 'It cannot run today’s containers.',
    remedy: 'Use Windows Server 2022 or 2025.',
  },
  HOST_WINDOWS_OLD: {
    summary: 'The host runs Windows Server 2019. A warning.',
    meaning: 'Kubernetes no longer supports it: it may work, and nobody tests it.',
    remedy: 'Plan to replace it by Windows Server 2022 or 2025.',
  },
  HOST_WINDOWS_UNKNOWN: {
    summary: 'The host runs a build of Windows that hyperkube does not know. A warning.',
    meaning:
      'A container runs only on the build that its image was made for; there may be no images for this one.',
    remedy: 'Use Windows Server 2022 or 2025. `winver` shows the build.',
  },
  HOST_WINDOWS_ARCH: {
    summary: 'Upstream makes no programs of a Windows node for this processor.',
    remedy: 'Use a host with amd64.',
  },
  HOST_WINDOWS_CONTAINERS: {
    summary: 'The feature Containers is not installed on the host. A warning.',
    meaning: 'hyperkube installs it, and the host restarts once for it.',
    remedy: 'To do it at a time of your own: `Install-WindowsFeature Containers -Restart` on the host.',
  },
  HOST_WINDOWS_REBOOT: {
    summary: 'Windows waits for a restart. A warning.',
    meaning: 'What was installed before may not work until then.',
    remedy: '`Restart-Computer` on the host.',
  },
}
