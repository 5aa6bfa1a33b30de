import { basename, dirname, join } from 'node:path'
import { computeDigest } from '../../diff/resource.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { PlanDocument } from '../../lifecycle/proposal/plan-approval.ts'
import type { AppliedPlan } from '../../ui/views.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import type { CommandContext, CommandLogStore, LeafCommand } from '../command/command.ts'
import { collect, createSilentContext } from './read-document.ts'

/** Applies exactly the plan that the interface has shown, like `hyperkube up --plan FILE`. */
export class PlanApplier implements AsyncDisposable {
  readonly #context: CommandContext
  readonly #up: LeafCommand
  readonly #runs = new Set<Promise<unknown>>()

  constructor(context: CommandContext, up: LeafCommand) {
    this.#context = context
    this.#up = up
  }

  /** Saves a plan for `apply`, and returns its digest. The file replaces the last shown plan of the cluster. */
  async keep(cluster: string, document: PlanDocument): Promise<string> {
    const { makePrivateDirectory, replaceFile } = this.#context
    const file = this.#findFile(cluster)
    await makePrivateDirectory(dirname(file))
    // JSON without undefined values has the same digest after it is read.
    const plan: unknown = JSON.parse(JSON.stringify(document))
    await replaceFile(file, `${JSON.stringify(plan, undefined, 2)}\n`, 0o600)
    return computeDigest(plan)
  }

  /** Starts to apply a plan. Returns when the run has a log, or fails if the run ends before. */
  async apply(cluster: string, files: ClusterFiles, digest: string): Promise<AppliedPlan> {
    const file = this.#findFile(cluster)
    const saved = await this.#context.readFile(file).catch(() => 'null')
    if (computeDigest(JSON.parse(saved)) !== digest) {
      throw new HyperkubeError('UI_PLAN_REPLACED', `${cluster} has a newer plan than the one on the page`, {
        hint: 'read the plan again in the browser, and review it',
      })
    }
    const opened = Promise.withResolvers<AppliedPlan>()
    const stderr: string[] = []
    const silent = createSilentContext(this.#context, { write: () => undefined }, collect(stderr))
    const context = {
      ...silent,
      commandLogs: observeOpen(silent.commandLogs, opened.resolve),
      // Another page may replace the file after the check, so the run gets the text that was checked.
      readFile: async (path: string) => (path === file ? saved : this.#context.readFile(path)),
    }
    const run = this.#up
      .run(context, {
        args: [],
        options: {
          ...files,
          ...{ plan: file, output: 'json', input: false, quiet: true, yes: true, progress: 'plain' },
        },
      })
      .then(() => {
        throw new HyperkubeError('UI_VIEW_EMPTY', stderr.join('').trim(), {
          hint: `hyperkube up --plan ${file} -f ${files.file}`,
        })
      })
      // The page of the run shows how it ends. Only an end before the log exists is reported here.
      .catch(opened.reject)
      .finally(() => this.#runs.delete(run))
    this.#runs.add(run)
    return opened.promise
  }

  #findFile(cluster: string): string {
    return join(this.#context.stateDirectory(), 'hyperkube', 'ui', `${cluster}.plan`)
  }

  /** Waits for runs, which end at a safe point when the signal of the context is aborted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#runs)
  }
}

function observeOpen(store: CommandLogStore, onOpen: (applied: AppliedPlan) => void): CommandLogStore {
  return {
    ...store,
    open(...args) {
      const log = store.open(...args)
      onOpen(log.path === undefined ? {} : { run: basename(log.path, '.ndjson') })
      return log
    },
  }
}
