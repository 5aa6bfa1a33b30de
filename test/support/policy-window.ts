import { probe, type ProbePod } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { pollUntil } from '../../src/kit/poll.ts'

const podsPath = '/api/v1/namespaces/default/pods'
const policiesPath = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies'

/**
 * Starts a pod to which a policy without any egress already applies. The pod connects to `target` again and
 * again from its first moment. Returns the milliseconds until the first refused connection.
 */
export async function measureNewPodWindow(
  api: KubeApi,
  node: string,
  target: ProbePod,
  round: number,
): Promise<number> {
  const name = `window-${round}`
  await api.ensure(policiesPath, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'window' },
    spec: { podSelector: { matchLabels: { app: 'window' } }, policyTypes: ['Egress'] },
  })
  await api.ensure(podsPath, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'window' } },
    spec: {
      nodeName: node,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'client',
          image: testImage,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', buildScript(target)],
        },
      ],
    },
  })
  const result = await pollUntil(
    `${name} to end`,
    async () => /^closed (\d+)$/m.exec(await readLog(api, name))?.[1],
    { timeoutMs: 60_000, intervalMs: 200 },
  )
  await api.remove(`${podsPath}/${name}`)
  await api.remove(`${policiesPath}/window`)
  return Number(result)
}

/** Builds a script that prints the milliseconds from its start to the first refused connection. */
function buildScript({ address }: ProbePod): string {
  const now = "$(sed 's/ .*//; s/\\.//' /proc/uptime)"
  return `began=${now}
while /agnhost connect --timeout=1s ${address}:${probe.port} >/dev/null 2>&1; do :; done
echo closed $(( (${now} - began) * 10 ))`
}

async function readLog(api: KubeApi, name: string): Promise<string> {
  return api.text(`${podsPath}/${name}/log`).catch(() => '')
}
