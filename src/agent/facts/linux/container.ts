import type { Fact } from './fact.ts'

/** Left by whoever made the container, or by the systemd in it. */
const marks = ['/run/host/container-manager', '/run/systemd/container', '/run/.containerenv', '/.dockerenv']

export const container: Fact<'container'> = async ({ exists, readFile }) => {
  const [found, environment] = await Promise.all([
    Promise.all(marks.map(exists)),
    readFile('/proc/1/environ'),
  ])
  return found.includes(true) || namesContainer(environment ?? '')
}

/** Variables of the first process, each ended by a zero byte. */
export function namesContainer(environment: string): boolean {
  return environment.split('\0').some((variable) => /^container=./.test(variable))
}
