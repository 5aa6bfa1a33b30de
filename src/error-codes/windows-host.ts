import type { ErrorCodeEntries } from './entry.ts'

export const windowsHostCodes: ErrorCodeEntries = {
  WINDOWS_ONLY: {
    summary: 'A command for Windows hosts was run on another operating system.',
    meaning: 'hyperkube runs this command itself over ssh.',
    remedy: '`hyperkube help` lists the commands for operators.',
  },
  HOST_WINDOWS_TOO_OLD: {
    summary: 'The host runs a Windows older than Server 2019.',
    meaning: 'It does not support the containers that Kubernetes needs.',
    remedy: 'Use Windows Server 2022 or 2025.',
  },
  HOST_WINDOWS_OLD: {
    summary: 'The host runs Windows Server 2019. This is a warning.',
    meaning: 'Kubernetes no longer supports or tests it.',
    remedy: 'Plan to replace it with Windows Server 2022 or 2025.',
  },
  HOST_WINDOWS_UNKNOWN: {
    summary: 'The host runs an unknown build of Windows. This is a warning.',
    meaning: 'A container runs only on the builds of its image, and there may be no images for this build.',
    remedy: 'Use Windows Server 2022 or 2025. `winver` shows the build.',
  },
  HOST_WINDOWS_ARCH: {
    summary: 'Upstream does not publish Windows node programs for this architecture.',
    remedy: 'Use an amd64 host.',
  },
  HOST_WINDOWS_CLIENT: {
    summary: 'The host runs a client edition of Windows.',
    meaning: 'Kubernetes supports nodes only on Windows Server.',
    remedy: 'Use Windows Server 2022 or 2025.',
  },
  HOST_WINDOWS_CONTAINERS: {
    summary: 'The Windows feature Containers is not installed on the host.',
    meaning:
      'Containers and their network need it. hyperkube does not install it, because the installation reboots the host.',
    remedy: 'Run `Install-WindowsFeature Containers -Restart` on the host. Then run the same command again.',
  },
  HOST_WINDOWS_REBOOT: {
    summary: 'Windows has a pending reboot. This is a warning.',
    meaning: 'Recently installed features may not work until then.',
    remedy: 'Run `Restart-Computer` on the host.',
  },
  HOST_WINDOWS_NO_DISK: {
    summary: 'The host has no disk for the base directory of hyperkube.',
    meaning: '`spec.windows.baseDirectory` applies to all Windows hosts, and each host must have that disk.',
    remedy:
      '`Get-Volume` on the host shows its disks. Add the disk, or choose a directory on a disk that all hosts have.',
  },
  HOST_WINDOWS_ADAPTER_DOWN: {
    summary: 'The network adapter with the address of the host is down.',
    meaning: 'The other hosts cannot reach it there, and the pod network cannot use it.',
    remedy: 'Run the command from the hint on the host. `Get-NetAdapter` must then show Up.',
  },
  HOST_WINDOWS_ADAPTER_VIRTUAL: {
    summary: 'The address of the host is on a foreign virtual switch.',
    meaning:
      'The pod network needs a physical adapter and moves its address to its own switch. This switch belongs to virtual machines or to an adapter team.',
    remedy: 'Give the host an address on a separate adapter, and set it as `internalAddress` in cluster.yml.',
  },
  HOST_WINDOWS_NETWORK: {
    summary: 'The host has a network with our name but other settings. This is a warning.',
    meaning:
      'Another installation created it, or the address of the host has changed. hyperkube replaces the network, and its endpoints lose their connection.',
    remedy: 'No action is needed if nothing else uses it. The command from the hint shows its settings.',
  },
  HOST_WINDOWS_NETWORK_OTHER: {
    summary: 'The host has a foreign network on an adapter. This is a warning.',
    meaning:
      'It may belong to another cluster. hyperkube never removes foreign networks, and two networks on one adapter may conflict.',
    remedy:
      '`Get-HnsEndpoint | Where-Object VirtualNetworkName -eq NAME` shows its endpoints. If there are none, run the command from the hint.',
  },
  HOST_WINDOWS_METADATA: {
    summary: 'The host will lose its routes to the cloud metadata service. This is a warning.',
    meaning:
      'The pod network moves the address of the adapter to a switch, which deletes the routes. Programs then get no cloud credentials, and Windows no licence.',
    remedy:
      'Set `spec.windows.cloud`, or `spec.windows.metadataAddresses` for another cloud. hyperkube preserves these routes.',
  },
  HOST_WINDOWS_IMAGE: {
    summary: 'A required image does not run on the Windows build of the host.',
    meaning:
      'Containers share the kernel of the host: Server 2022 runs images of its own build, Server 2025 runs both. cluster.lock lists the builds of each image.',
    remedy:
      'A mirror often lacks some variants of an image. Complete the mirror, or set another one in `spec.registries`. Then run `hyperkube lock`.',
  },
  HOST_WINDOWS_SERVICE_TAKEN: {
    summary: 'The host has a foreign service with the name of a hyperkube service.',
    meaning: 'Another installation created it. hyperkube never overwrites foreign services.',
    remedy:
      '`sc.exe qc NAME` shows its program. If nothing needs it, run `Stop-Service NAME` and `sc.exe delete NAME`.',
  },
  HOST_WINDOWS_OTHER_NODE: {
    summary: 'The host is a node of another cluster.',
    meaning:
      'Both clusters would use the same adapter and ports, and each would remove the resources of the other.',
    remedy:
      'Remove the host from the other cluster with the tools of that cluster. Then run the same command again.',
  },
  HOST_WINDOWS_DOCKER: {
    summary: 'Docker runs on the host. This is a warning.',
    meaning: 'Kubernetes does not account for Docker containers.',
    remedy: '`docker ps` shows what still runs there. Then run the command from the hint.',
  },
  POWERSHELL_TIMEOUT: {
    summary: 'PowerShell on the host did not respond in time and was terminated.',
    meaning:
      'It is unknown whether the operation was applied. hyperkube observes the host again before it continues with a new process.',
    remedy:
      'If this persists, check `Get-Service hns, Winmgmt` on the host. `Restart-Service Winmgmt -Force` often helps.',
  },
  POWERSHELL_INVALID_OUTPUT: {
    summary: 'PowerShell on the host wrote invalid output and was terminated.',
    meaning:
      'A profile, a policy or a logging tool writes to the output. The next operation uses a new process.',
    remedy:
      'The message shows the start of the output. `powershell.exe -NoProfile -NonInteractive -Command 1` on the host must print exactly one line.',
  },
  POWERSHELL_ENDED: {
    summary: 'PowerShell on the host could not start, or exited unexpectedly.',
    meaning: 'The message holds its last output. The next operation uses a new process.',
    remedy:
      '`%SystemRoot%\\System32\\WindowsPowerShell\\v1.0\\powershell.exe` must start for the system account. A constrained language mode policy also blocks the script of hyperkube.',
  },
  SCM_UNREACHABLE: {
    summary: 'The Windows service manager did not accept a direct connection.',
    meaning: 'hyperkube manages services through PowerShell instead, which is slower.',
    remedy:
      'No action is needed. `sc.exe query` on the host, run as an administrator, shows whether the service manager responds.',
  },
  SCM_INVALID_OUTPUT: {
    summary: 'The Windows service manager returned an invalid response.',
    meaning: 'The request may have been applied. The agent observes the services again.',
    remedy: 'The agent retries. If this persists, please report it with the Windows build of the host.',
  },
  WINDOWS_NO_ETCD: {
    summary: 'An etcd operation was requested from a Windows host.',
    meaning: 'Windows hosts are workers; etcd members run Linux.',
    remedy: '`hyperkube status` lists the etcd members. If cluster.yml is correct, please report this.',
  },
  WINDOWS_OPERATION_FAILED: {
    summary: 'Windows refused an operation.',
    meaning: 'The message holds the error of Windows, in the language of the host.',
    remedy: 'The agent retries with a growing interval. If this persists, fix the error in the message.',
  },
  WINDOWS_UNEXPECTED_OUTPUT: {
    summary: 'A Windows command returned undocumented output.',
    meaning: 'hyperkube did not use it. The message names the operation and the property.',
    remedy: 'Please report it with the build from `winver`; a Windows release may have changed the command.',
  },
}
