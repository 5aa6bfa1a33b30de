import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from '../kit/errors.ts'
import { settleAll } from '../kit/settle-all.ts'
import { healthServer, listenInTheEnd } from './health-server.ts'
import { sameMembers } from './members.ts'
import { keepInMind, remember } from './memory.ts'
import { Proxy, type World } from './proxy.ts'
import { readSettings, sameSettings, type Settings } from './settings.ts'

/** Runs the proxy that a file describes until the signal comes, and reads the file again whenever it has changed. */
export async function runProxy(file: string, world: World, signal: AbortSignal): Promise<void> {
  const settings = await readSettings(file)
  const { listen, health, memory } = settings.configuration
  const remembered = await remember(memory, world.log)
  const proxy = new Proxy(settings, remembered, world)
  await proxy.start()
  world.log(`listening at ${listen}`)
  const ended = new AbortController()
  listenInTheEnd(
    healthServer(() => proxy.status()),
    health,
    world.log,
    ended.signal,
  )
  try {
    await settleAll([
      keepReading(file, settings, proxy, world, signal),
      keepLearning(remembered, memory, proxy, world, signal),
    ])
  } finally {
    world.log('stopping')
    await proxy.stop()
    ended.abort()
  }
}

/** Looks at the files' content, not for events: those get lost in renames, mounts and copies. */
async function keepReading(
  file: string,
  first: Settings,
  proxy: Proxy,
  { timing, log }: World,
  signal: AbortSignal,
): Promise<void> {
  const say = changes(log)
  let settings = first
  while (await pause(timing.reloadEvery, signal)) {
    try {
      const read = await readSettings(file)
      if (!sameSettings(settings, read)) {
        proxy.use(read)
        log(`${file} or what it names has changed, and is in use`)
        if (read.configuration.listen !== first.configuration.listen)
          log('listening elsewhere takes a restart')
      }
      settings = read
      say('')
    } catch (error) {
      // Better yesterday's servers than none.
      say(`what was read before stays in use: ${describe(error)}`)
    }
  }
}

async function keepLearning(
  remembered: readonly string[],
  memory: string,
  proxy: Proxy,
  { timing, random, log }: World,
  signal: AbortSignal,
): Promise<void> {
  const say = changes(log)
  let known = remembered
  // Soon at first, then now and then, and never all nodes at once.
  let wait = timing.askEvery
  while (await pause(wait, signal)) {
    try {
      const learned = await proxy.learn()
      if (learned === undefined) continue
      wait = timing.learnEvery * (0.5 + random())
      say('')
      if (sameMembers(known, learned)) continue
      log(`the cluster’s servers are ${learned.join(', ')}`)
      known = learned
      await keepInMind(memory, learned, log)
    } catch (error) {
      wait = timing.learnEvery * (0.5 + random())
      say(`the cluster’s servers could not be learned: ${describe(error)}`)
    }
  }
}

/** False when it is over. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}

/** Says a thing once, however often it comes in a row. */
function changes(log: (line: string) => void): (line: string) => void {
  let last = ''
  return (line) => {
    if (line !== last && line !== '') log(line)
    last = line
  }
}
