import type { ProbePod } from '../../lab/bench/workload.ts'
import { probe } from '../../lab/bench/workload.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'

/** What a script says that runs in a pod of the probe. It has less than ten seconds. */
export async function podScript(api: KubeApi, pod: Pick<ProbePod, 'name'>, script: string): Promise<string> {
  const query = new URLSearchParams({ cmd: script })
  const answer = await api.get<{ output?: string; error?: string }>(
    `/api/v1/namespaces/default/pods/${pod.name}:${probe.port}/proxy/shell?${query.toString()}`,
  )
  return answer.output ?? ''
}

/** The addresses that a pod gets for a name. */
export async function lookUp(api: KubeApi, pod: Pick<ProbePod, 'name'>, name: string): Promise<string[]> {
  const text = await podScript(api, pod, `nslookup ${name} 2>&1`)
  const [, ...answers] = text.split(/^Name:/m)
  return answers
    .flatMap((answer) => [...answer.matchAll(/Address(?: \d+)?: ([\d.]+)/g)].flatMap(([, one]) => one ?? []))
    .toSorted()
}
