/** Words of the status line that a page looks for. */
export const countdownMark = ' goes to a fresh session in '
