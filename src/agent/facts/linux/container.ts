import type { Fact } from './fact.ts'

/** Files that exist only in containers. Container managers create them, or systemd inside the container. */
const markerFiles = [
  '/run/host/container-manager',
  '/run/systemd/container',
  '/run/.containerenv',
  '/.dockerenv',
]

export const readContainer: Fact<'container'> = async ({ exists, readFile }) => {
  const [found, environment] = await Promise.all([
    Promise.all(markerFiles.map(exists)),
    readFile('/proc/1/environ'),
  ])
  return found.includes(true) || hasContainerVariable(environment ?? '')
}

/** True if the environment of process 1 has a `container` variable. Variables are separated by zero bytes. */
export function hasContainerVariable(environment: string): boolean {
  return environment.split('\0').some((variable) => /^container=./.test(variable))
}
