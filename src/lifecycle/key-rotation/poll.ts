import { waitWatchfully, type Watchful } from '../../kit/poll-with-progress.ts'

/** How somebody waits, and hears what for. */
export interface Patience extends Pick<Watchful, 'tell' | 'now' | 'signal'> {
  /** Milliseconds between two looks, where that is not the usual time. */
  readonly every?: number
}

/** Looks until there is nothing to wait for any more, but no longer than `within` milliseconds. */
export async function waitPatiently(
  { every = 1000, ...patience }: Patience,
  within: number,
  look: () => Promise<string | undefined>,
  late: Watchful['late'],
): Promise<void> {
  await waitWatchfully(look, { ...patience, every, late, deadline: patience.now().getTime() + within })
}
