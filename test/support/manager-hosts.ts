import type { Host } from '../../lab/hosts/host.ts'

export function controlPlanesOf(hosts: readonly Host[]): readonly Host[] {
  return hosts.filter(({ name }) => name.startsWith('cp'))
}

/** What the controller manager of a host says of itself; nothing while it does not answer. */
export async function managerFigures(host: Host): Promise<string> {
  const ask = ['curl', '-s', '-m', '2', 'http://127.0.0.1:6447/metrics'] as const
  return (await host.exec(ask, { allowFailure: true })).stdout
}
