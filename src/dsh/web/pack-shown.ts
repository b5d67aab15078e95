/** What a page shows of pack. */

/** Name of the part among those that a session shows: a review that waits for a choice. */
export const reviewPart = 'pack-review'

export interface ReviewShown {
  readonly id: string
  readonly title: string
  readonly markdown: string
  readonly buttons: readonly { readonly label: string; readonly key: string; readonly command: string }[]
}
