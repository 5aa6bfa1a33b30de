import type { Entries } from './entry.ts'

export const windowsHost: Entries = {
  WINDOWS_ONLY: {
    summary: 'A command that is for Windows hosts was called elsewhere.',
    meaning: 'hyperkube calls it by itself over ssh.',
    remedy: '`hyperkube help` lists what is there for people.',
  },
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
      'A container runs only on builds that its image was made for; there may be no images for this one.',
    remedy: 'Use Windows Server 2022 or 2025. `winver` shows the build.',
  },
  HOST_WINDOWS_ARCH: {
    summary: 'Upstream makes no programs of a Windows node for this processor.',
    remedy: 'Use a host with amd64.',
  },
  HOST_WINDOWS_CLIENT: {
    summary: 'The host runs a Windows that is no server.',
    meaning: 'Nodes of Kubernetes are supported on Windows Server alone.',
    remedy: 'Use Windows Server 2022 or 2025.',
  },
  HOST_WINDOWS_CONTAINERS: {
    summary: 'The feature Containers is not installed on the host.',
    meaning:
      'It brings all that containers and their network are made of. hyperkube does not install it: the host restarts for it, and when that may be is for you to say.',
    remedy: '`Install-WindowsFeature Containers -Restart` on the host; then the same command again.',
  },
  HOST_WINDOWS_REBOOT: {
    summary: 'Windows waits for a restart. A warning.',
    meaning: 'What was installed before may not work until then.',
    remedy: '`Restart-Computer` on the host.',
  },
  HOST_WINDOWS_NO_DISK: {
    summary: 'The host lacks the disk that hyperkube’s directory shall be on.',
    meaning: '`spec.windows.baseDirectory` is one for all Windows hosts, and each must have its disk.',
    remedy:
      '`Get-Volume` on the host shows what there is. Give it the disk, or take a directory that all of them can have.',
  },
  HOST_WINDOWS_ADAPTER_DOWN: {
    summary: 'The adapter with the host’s address is down.',
    meaning: 'The other hosts do not reach it there, and no network can be made on it.',
    remedy: 'The command of the hint on the host; `Get-NetAdapter` then says Up.',
  },
  HOST_WINDOWS_ADAPTER_VIRTUAL: {
    summary: 'The host’s address is on a switch that somebody else has made.',
    meaning:
      'The network of pods is made on an adapter, and takes its address to a switch of its own. Below this one, which belongs to virtual machines or to a team of adapters, there is none of its name.',
    remedy:
      'Give the host an address on an adapter of its own, and name it as `internalAddress` in cluster.yml.',
  },
  HOST_WINDOWS_NETWORK: {
    summary: 'The host has a network of our name that is set up otherwise. A warning.',
    meaning:
      'It is left from another installation, or from before the host got its present address. hyperkube removes it and makes its own; what is joined to it loses its network.',
    remedy: 'Nothing, if nothing else needs it. The command of the hint shows what it is.',
  },
  HOST_WINDOWS_NETWORK_OTHER: {
    summary: 'Somebody else has made a network on an adapter of the host. A warning.',
    meaning:
      'It may be left from another cluster. hyperkube never removes what is not its own, and two such networks may disturb each other.',
    remedy:
      '`Get-HnsEndpoint | Where-Object VirtualNetworkName -eq NAME` shows what is joined to it. If nothing is: the command of the hint.',
  },
  HOST_WINDOWS_METADATA: {
    summary: 'The host has routes to its cloud that will be lost. A warning.',
    meaning:
      'The network of pods takes the adapter’s address to a switch, and routes on the adapter are gone: programs that ask the cloud for their credentials, or Windows for its licence, get no answer.',
    remedy:
      'Say whose machines they are: `spec.windows.cloud`, or `spec.windows.metadataAddresses` for a cloud that is not in the list. Routes to those are kept.',
  },
  HOST_WINDOWS_IMAGE: {
    summary: 'An image that every pod needs does not run on the host’s Windows.',
    meaning:
      'A container shares the kernel of its host: Server 2022 runs images of its own build, Server 2025 those of both; Kubernetes does not put containers into virtual machines of their own. The lock says for which builds an image was found.',
    remedy:
      'A mirror often has only some kinds of an image: give it all of them, or another one in `spec.registries`; then `hyperkube lock`.',
  },
  HOST_WINDOWS_SERVICE_TAKEN: {
    summary: 'The host has a service with the name of one of ours, which hyperkube did not make.',
    meaning: 'It is left from another installation. hyperkube overwrites nothing that is not its own.',
    remedy:
      '`sc.exe qc NAME` shows which program it runs. If nothing needs it: `Stop-Service NAME`, `sc.exe delete NAME`.',
  },
  HOST_WINDOWS_OTHER_NODE: {
    summary: 'The host is a node of another cluster.',
    meaning:
      'Two would take the same adapter and the same ports, and each would remove what the other makes.',
    remedy: 'Take it out of the other cluster, by the means of that one; then the same command again.',
  },
  HOST_WINDOWS_DOCKER: {
    summary: 'Docker runs on the host too. A warning.',
    meaning: 'Kubernetes does not count what Docker’s containers take.',
    remedy: '`docker ps` shows what still runs there; then the command of the hint.',
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
  SCM_UNREACHABLE: {
    summary: 'The manager of services on the Windows host could not be asked by its own protocol.',
    meaning: 'Services are seen to through PowerShell instead, which is slower; nothing was begun.',
    remedy:
      'Nothing has to be done. `sc.exe query` on the host, as an administrator, shows whether the manager answers at all.',
  },
  SCM_RUBBISH: {
    summary: 'The manager of services on the Windows host answered with something that was not understood.',
    meaning: 'What was asked may have been done; whoever asked looks again.',
    remedy: 'It is tried again by itself. If it stays so, please report it with the build of the host.',
  },
  WINDOWS_NO_ETCD: {
    summary: 'Something about etcd was asked of a Windows host.',
    meaning: 'Windows hosts are workers; members of etcd run Linux.',
    remedy: '`hyperkube status` names the members of etcd. If cluster.yml is right, please report it.',
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
