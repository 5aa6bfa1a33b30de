import { component, type Planner } from './component.ts'
import { textFile } from './files.ts'
import type { Scene } from './context.ts'

/** Files of the person's own, kept on the host with ours. */
export function extraFiles(owner: string): Planner<Scene> {
  return ({ host, attachments }) => {
    if (host.files.length === 0) return undefined
    return component({
      name: 'extra-files',
      stage: 'prepare',
      files: host.files.map(({ path, mode, content, source }) =>
        textFile(path, content ?? attachments.get(source ?? '') ?? '', { owner, mode, restart: false }),
      ),
    })
  }
}
