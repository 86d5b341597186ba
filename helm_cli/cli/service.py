"""`helm service`: where HTTP services are and how their calls are authorized, kept without tokens and secrets."""

from functools import partial
from typing import Annotated

import typer

from helm_cli.broker import profiles as broker
from helm_cli.cli import (
    OutputOption,
    ProfileArgument,
    TokenOption,
    broken,
    group,
    listing_format,
    service_entry,
    service_words,
    trying,
)
from helm_cli.cli.entry import gone, kept
from helm_cli.cli.here import Here, here, note, tell
from helm_cli.cli.listing import show_members, show_rows
from helm_cli.cli.service_entry import Given
from helm_cli.store import profiles

app = group(
    "Keep service profiles: a base URL, and a token or a sign-in.",
    "A profile says where an HTTP service is and how its calls are authorized; calls of approved extensions use it, and"
    " never see its token.",
    ("helm service add github --base-url https://api.github.com --token-stdin < token", "helm service test github"),
)

BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Where its paths begin; https, or http on 127.0.0.1 or localhost."),
]
HeaderOption = Annotated[
    str | None, typer.Option("--header", metavar="NAME", help="The header of the token; else Authorization.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="bearer or raw; else bearer in Authorization, raw in any other header."
    ),
]
ClientOption = Annotated[str | None, typer.Option("--client-id", metavar="ID", help="The OAuth client that is yours.")]
ClientSecretOption = Annotated[
    bool, typer.Option("--client-secret-stdin", help="Read its secret from standard input; empty for a public client.")
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--redirect-port",
        metavar="PORT",
        min=1,
        max=65535,
        help="The port of the redirect URI; else the setting oauth.port.",
    ),
]
AuthorizeOption = Annotated[
    str | None, typer.Option("--authorize-url", metavar="URL", help="Only for extensions that cannot declare it.")
]
TokenUrlOption = Annotated[
    str | None, typer.Option("--token-url", metavar="URL", help="Only for extensions that cannot declare it.")
]


@app.command()
def add(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The profile's name.")] = None,
    base_url: BaseUrlOption = None,
    header: HeaderOption = None,
    format_: FormatOption = None,
    token_stdin: TokenOption = False,
    no_token: Annotated[bool, typer.Option("--no-token", help="The service needs no token.")] = False,
    oauth2: Annotated[bool, typer.Option("--oauth2", help="It signs in by OAuth2.")] = False,
    client_id: ClientOption = None,
    client_secret_stdin: ClientSecretOption = False,
    redirect_port: PortOption = None,
    authorize_url: AuthorizeOption = None,
    token_url: TokenUrlOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a profile of this name.")] = False,
) -> None:
    """Add a service profile; nothing is contacted, and its secret goes to the credential store.

    \b
    Examples:
      helm service add github --base-url https://api.github.com --token-stdin < token
      helm service add metrics --base-url http://localhost:9090/api/v1 --no-token
      helm service add cal --base-url https://cal.example.com --oauth2 --client-id 1234 --client-secret-stdin < secret
    """
    place = here()
    given = Given(
        name,
        base_url,
        header,
        format_,
        token_stdin=token_stdin,
        no_token=no_token,
        oauth2=oauth2,
        client_id=client_id,
        client_secret_stdin=client_secret_stdin,
        redirect_port=redirect_port,
        authorize_url=authorize_url,
        token_url=token_url,
    )
    profile, given = service_entry.complete(place, given, force=force)
    broker.check(place.stores, profile, force=force)
    secret = service_entry.secret(place, profile, given)
    uri = service_words.redirect_uri(place, profile)
    recorded = broker.add(place.stores, profile, secret, force=force)
    kept(place)
    note(place.streams, f"added the service profile {recorded.name}, {service_words.secret(recorded)}")
    if uri is not None:
        step = service_words.next_step(place, recorded)
        tell(place.streams, f"register the redirect URI {uri} with the OAuth client; {step}")


@app.command()
def edit(
    name: ProfileArgument,
    base_url: BaseUrlOption = None,
    header: HeaderOption = None,
    format_: FormatOption = None,
    token_stdin: TokenOption = False,
    ask_token: Annotated[bool, typer.Option("--ask-token", help="Ask for a new token.")] = False,
    no_token: Annotated[bool, typer.Option("--no-token", help="The service needs no token any more.")] = False,
    client_id: ClientOption = None,
    client_secret_stdin: ClientSecretOption = False,
    ask_client_secret: Annotated[
        bool, typer.Option("--ask-client-secret", help="Ask for a new client secret.")
    ] = False,
    redirect_port: PortOption = None,
    no_redirect_port: Annotated[
        bool, typer.Option("--no-redirect-port", help="Take the port of the setting oauth.port again.")
    ] = False,
    authorize_url: AuthorizeOption = None,
    token_url: TokenUrlOption = None,
    no_sign_in_urls: Annotated[
        bool, typer.Option("--no-sign-in-urls", help="Forget both; extensions declare theirs.")
    ] = False,
) -> None:
    """Change a service profile; what is not given stays, and so do the comments in its file.

    \b
    Examples:
      helm service edit github --token-stdin < token
      helm service edit metrics --base-url http://localhost:9091/api/v1
    """
    place = here()
    with broken.to_change(place, "service", name):
        old = profiles.load(place.stores.home, "service", name)
    given = Given(
        base_url=base_url,
        header=header,
        format=format_,
        token_stdin=token_stdin,
        ask_token=ask_token,
        no_token=no_token,
        client_id=client_id,
        client_secret_stdin=client_secret_stdin,
        ask_client_secret=ask_client_secret,
        redirect_port=redirect_port,
        no_redirect_port=no_redirect_port,
        authorize_url=authorize_url,
        token_url=token_url,
        no_sign_in_urls=no_sign_in_urls,
    )
    new = service_entry.changed(old, given)
    broker.check(place.stores, new, force=True)
    secret = service_entry.new_secret(place, old, new, given)
    recorded = broker.change(place.stores, old, new, secret)
    kept(place)
    how = service_words.sent(recorded) if recorded.sign_in == "token" else ""
    lost = gone(old, recorded, "client secret" if recorded.oauth2 else "token")
    note(place.streams, f"changed the service profile {name}{lost or how}")
    if recorded.oauth2 and recorded.secret_target_digest() != old.secret_target_digest():
        tell(place.streams, f"a sign-in is for the former target; {service_words.next_step(place, recorded)}")


@app.command("list")
def list_(output: OutputOption = "auto") -> None:
    """List the service profiles.

    \b
    Examples:
      helm service list
      helm service list -o json
    """
    place = here()
    listing_format(output)
    columns = ("name", "sign_in", "base_url", "credential")
    rows = broken.rows(place, "service", columns, lambda name: _listed(place, name))
    show_rows(place, output, columns, rows, "no service profiles yet; add one with helm service add")


@app.command()
def show(name: ProfileArgument, output: OutputOption = "auto") -> None:
    """Show a service profile, never its secret.

    \b
    Examples:
      helm service show github
      helm service show cal -o json
    """
    place = here()
    profile = profiles.load(place.stores.home, "service", name)
    members = {name: value for name, value in service_words.members(place, profile).items() if value is not None}
    show_members(place, listing_format(output), members)


@app.command()
def remove(name: ProfileArgument) -> None:
    """Remove a service profile, its secret and its sign-in.

    \b
    Examples:
      helm service remove github
      helm service remove cal
    """
    place = here()
    broker.remove(place.stores, "service", name)
    note(place.streams, f"removed the service profile {name}")


@app.command()
def test(name: ProfileArgument, output: OutputOption = "auto") -> int:
    """Try a service profile: ask for its base URL, with its token, and say what answered.

    \b
    Examples:
      helm service test github
      helm service test metrics && echo reachable
    """
    place = here()
    load = partial(profiles.load, place.stores.home, "service", name)
    return trying.report(place, "service", name, listing_format(output), load)


@app.command("import")
def import_(
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="gh, netrc, or such a file; else both.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace profiles of the same names.")] = False,
) -> int:
    """Take services over, with their tokens, from the files of gh and from a .netrc.

    For a person at the terminal, who chooses. Tokens go to the credential store; the files stay as they are.

    \b
    Examples:
      helm service import
      helm service import gh
      helm service import ~/.netrc
    """
    from helm_cli.cli import service_import

    return service_import.run(here(), source, force=force)


def _listed(place: Here, name: str) -> dict[str, object]:
    profile = profiles.load(place.stores.home, "service", name)
    return {
        "name": profile.name,
        "sign_in": profile.sign_in,
        "base_url": profile.base_url,
        "credential": profile.credential,
    }
