import type { Host } from '../../lab/hosts/host.ts'

export function selectControlPlanes(hosts: readonly Host[]): readonly Host[] {
  return hosts.filter(({ name }) => name.startsWith('cp'))
}

/** Returns the metrics of the controller manager on a host; empty if it does not respond. */
export async function fetchManagerMetrics(host: Host): Promise<string> {
  const command = ['curl', '-s', '-m', '2', 'http://127.0.0.1:6447/metrics'] as const
  return (await host.exec(command, { allowFailure: true })).stdout
}
