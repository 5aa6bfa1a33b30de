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
  POWERSHELL_SILENT: {
    summary: 'PowerShell on the host has not answered in time, and was ended.',
    meaning:
      'The next operation gets a new process. Of what was asked it is not known whether it was done; the host is looked at again before anything else.',
    remedy:
      'If it stays so: on the host `Get-Service hns, Winmgmt` shows whether the services behind the commands run, and `Restart-Service Winmgmt -Force` often helps.',
  },
  POWERSHELL_RUBBISH: {
    summary: 'PowerShell on the host has said something that is no answer, and was ended.',
    meaning:
      'Something else than hyperkube’s script writes to its output: a profile, a policy, a logging tool. The next operation gets a new process.',
    remedy:
      'The message has the first of what it said. `powershell.exe -NoProfile -NonInteractive -Command 1` on the host has to print one line alone.',
  },
  POWERSHELL_ENDED: {
    summary: 'PowerShell on the host could not be run, or ended by itself.',
    meaning: 'The message has its last words. The next operation gets a new process.',
    remedy:
      '`%SystemRoot%\\System32\\WindowsPowerShell\\v1.0\\powershell.exe` has to start for the system’s own account; a policy that keeps scripts in constrained language keeps hyperkube’s, too.',
  },
  WINDOWS_OPERATION_FAILED: {
    summary: 'Windows has refused what it was asked to do.',
    meaning: 'The message has its own words, in the language of the host.',
    remedy: 'What is meant to be there is tried again by itself, in longer and longer pauses.',
  },
  WINDOWS_ANSWER_UNEXPECTED: {
    summary: 'A command of Windows has answered with something else than is documented.',
    meaning: 'Nothing was guessed from it. The message names the operation and the property.',
    remedy:
      'Please report it with the build of the host, `winver`: a release of Windows may have changed what the command gives.',
  },
}
