/** Build number that a kubelet on Windows Server 2022 reports. */
const build = '10.0.20348'

export function nodeObject(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/os': 'windows',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'node.kubernetes.io/windows-build': build,
      },
    },
    spec: { taints: [{ key: 'os', value: 'windows', effect: 'NoSchedule' }] },
  }
}

export function nodeStatus({ address, version }: { address: string; version: string }): object {
  const now = new Date().toISOString()
  const condition = (type: string, status: string, reason: string): object => ({
    type,
    status,
    reason,
    message: `${reason} of a simulated host`,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  })
  const room = { cpu: '4', memory: '8Gi', pods: '110' }
  return {
    status: {
      addresses: [{ type: 'InternalIP', address }],
      capacity: room,
      allocatable: room,
      conditions: [
        condition('Ready', 'True', 'KubeletReady'),
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID'),
      ],
      nodeInfo: {
        architecture: 'amd64',
        bootID: '',
        containerRuntimeVersion: 'containerd://2.3.7',
        kernelVersion: `${build}.2700`,
        kubeletVersion: version,
        kubeProxyVersion: version,
        machineID: '',
        operatingSystem: 'windows',
        osImage: 'Windows Server 2022 Datacenter',
        systemUUID: '',
      },
    },
  }
}

interface Container {
  readonly name: string
  readonly image: string
}

export function podStatus(address: string, host: string, containers: readonly Container[]): object {
  const now = new Date().toISOString()
  const types = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready']
  return {
    status: {
      phase: 'Running',
      hostIP: host,
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: now,
      conditions: types.map((type) => ({ type, status: 'True', lastTransitionTime: now })),
      containerStatuses: containers.map(({ name, image }) => ({
        name,
        image,
        imageID: image,
        containerID: 'containerd://simulated',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: now } },
      })),
    },
  }
}
