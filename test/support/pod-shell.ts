import type { ProbePod } from '../../lab/bench/workload.ts'
import { probe } from '../../lab/bench/workload.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'

/** Runs a script in a probe pod and returns its output. The script must end in less than ten seconds. */
export async function runInPod(api: KubeApi, pod: Pick<ProbePod, 'name'>, script: string): Promise<string> {
  const query = new URLSearchParams({ cmd: script })
  const response = await api.get<{ output?: string; error?: string }>(
    `/api/v1/namespaces/default/pods/${pod.name}:${probe.port}/proxy/shell?${query.toString()}`,
  )
  return response.output ?? ''
}

/** Returns the addresses to which a name resolves in a pod. */
export async function resolveName(
  api: KubeApi,
  pod: Pick<ProbePod, 'name'>,
  name: string,
): Promise<string[]> {
  const text = await runInPod(api, pod, `nslookup ${name} 2>&1`)
  const [, ...responses] = text.split(/^Name:/m)
  return responses
    .flatMap((response) =>
      [...response.matchAll(/Address(?: \d+)?: ([\d.]+)/g)].flatMap(([, one]) => one ?? []),
    )
    .toSorted()
}
